# frozen_string_literal: true

require "set"

# A shelf of jars. def fake; end is text here.
module Pantry
  LIMIT = 12

  class Full < StandardError; end

  # One jar.
  class Jar
    attr_reader :label

    def initialize(label, grams = 0)
      @label = label
      @grams = grams
    end

    # Reads `label: grams`.
    def self.parse(text)
      label, grams = text.split(":")
      new(label, grams.to_f)
    end

    def empty? = @grams.zero?

    def label=(text)
      @label = text
    end

    def <=>(other)
      label <=> other.label
    end

    class << self
      def plum
        new(<<~TEXT)
          def not_here
          end
        TEXT
      end
    end
  end

  class Jar::Lid
    def open; end
  end

  module_function

  def shelf
    @shelf ||= Set.new
  end
end

class Pantry::Shelf
  def each(&block)
    return "class Fake" unless block

    %w[def end].each do |word|
      yield word
    end
  end
end

def helper = 1

RSpec.describe Pantry::Jar do
  describe "parsing" do
    it "reads a label" do
      expect(Pantry::Jar.parse("plum:1").label).to eq "plum"
    end
  end
end
