{-# LANGUAGE LambdaCase #-}
-- | A shelf of jars. fake :: Int
module Pantry.Shelf
  ( Jar (..)
  , add
  ) where

import qualified Data.Map as Map

-- | How many jars fit.
limit :: Int
limit = 12

data Size = Small | Large
  deriving (Eq, Show)

-- | One jar.
data Jar = Jar
  { label :: String
  , grams :: Double
  }

newtype Shelf = Shelf (Map.Map String Jar)

type Filter = Jar -> Bool

class Weigh a where
  -- | In grams.
  weigh :: a -> Double

  heavy :: a -> Bool
  heavy a = weigh a > 1000

instance Weigh Jar where
  weigh = grams

instance Show Jar where
  show jar = "data Fake = " ++ label jar

-- | Puts one on the shelf.
add :: Jar -> Shelf -> Maybe Shelf
add (Jar "" _) _ = Nothing
add jar (Shelf jars)
  | fits = Just (Shelf inserted)
  | otherwise = Nothing
  where
    fits = Map.size jars < limit
    inserted = Map.insert (label jar) jar jars

infixl 6 <+>
(<+>) :: Double -> Jar -> Jar
more <+> jar = jar { grams = grams jar + more }

a `heavier` b = grams a > grams b

sizes :: [Size]
sizes = map pick [1, 2]
  where
    pick = \case
      1 -> Small
      _ -> Large

main :: IO ()
main = do
  let hidden = "main = nothing"
  putStrLn hidden
