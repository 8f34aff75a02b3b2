-- A shelf of jars. function fake() end
local Shelf = {}
Shelf.__index = Shelf

local LIMIT = 12

--- Makes a shelf.
-- @param limit how many jars fit
function Shelf.new(limit)
  return setmetatable({ jars = {}, limit = limit or LIMIT }, Shelf)
end

--- Puts one jar on the shelf.
function Shelf:add(jar)
  local function fits()
    return #self.jars < self.limit
  end
  if not fits() then
    return nil, "function not_here() "
  end
  table.insert(self.jars, jar)
  return true
end

Shelf.count = function(self)
  return #self.jars
end

local label = function(jar)
  return jar.label .. [[
function neither()
end
]]
end

local function heaviest(shelf)
  local best
  for _, jar in ipairs(shelf.jars) do
    if not best or jar.grams > best.grams then
      best = jar
    end
  end
  return best
end

--[[ function commented()
end ]]
function global_helper()
  return heaviest
end

return {
  new = Shelf.new,
  label = label,
  open = function(folder)
    return folder
  end,
}
