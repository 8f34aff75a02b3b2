# A shelf of jars. function fake() end
module Pantry

export Jar, add!

const LIMIT = 12

"How it is weighed."
abstract type Weighable end

"""
One jar.

function nothing()
end
"""
struct Jar{T<:Real} <: Weighable
    label::String
    grams::T
end

mutable struct Shelf
    jars::Vector{Jar}
    Shelf() = new(Jar[])
end

# Puts one on the shelf.
function add!(shelf::Shelf, jar::Jar)
    fits() = length(shelf.jars) < LIMIT
    if !fits()
        error("function neither() end")
    end
    push!(shelf.jars, jar)
    return shelf
end

Base.show(io::IO, jar::Jar) = print(io, jar.label)

function Base.length(shelf::Shelf)::Int
    length(shelf.jars)
end

heavy(jar::Jar{T}) where {T} = jar.grams > 1000

Base.:+(a::Jar, b::Jar) = Jar(a.label, a.grams + b.grams)

macro jar(label)
    quote
        Jar($label, 0)
    end
end

@inline function twice(x)
    2x
end

module Inner
    const DEEP = 1
    deep() = DEEP
end

end
