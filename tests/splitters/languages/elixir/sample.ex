# A shelf of jars. def fake do
defprotocol Pantry.Weigh do
  @doc "In grams."
  def grams(thing)
end

defmodule Pantry.Jar do
  @moduledoc """
  One jar.

  defmodule Fake do
  """

  defstruct [:label, grams: 0]

  @type t :: %__MODULE__{}

  @doc "Reads `label: grams`."
  @spec parse(String.t()) :: t
  def parse(text) when is_binary(text) do
    [label, grams] = String.split(text, ":")
    new(label, grams)
  end

  # Two clauses of one function.
  def empty?(%{grams: 0}), do: true
  def empty?(_), do: false

  defp new(label, grams) do
    %__MODULE__{label: label, grams: number(grams)}
  end

  defp number(text), do: String.to_float(text)

  defmacro jar(label) do
    quote do
      %Pantry.Jar{label: unquote(label)}
    end
  end

  defguard heavy(grams) when grams > 1000

  def a + b, do: %{a | grams: a.grams + b.grams}

  defmodule Lid do
    def open, do: "def nothing do"
  end
end

defimpl Pantry.Weigh, for: Pantry.Jar do
  def grams(jar), do: jar.grams
end

defmodule Pantry.JarTest do
  use ExUnit.Case

  describe "parse/1" do
    test "reads a label" do
      assert Pantry.Jar.parse("plum:1.0").label == "plum"
    end
  end
end
