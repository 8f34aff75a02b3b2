using System;
using System.Collections.Generic;

namespace Pantry.Storage;

/// <summary>How large a jar is. class Fake { }</summary>
public enum Size
{
    Small,
    Large,
}

public delegate bool Filter(Jar jar);

public record Jar(string Label, double Grams)
{
    public bool Empty => Grams == 0;
}

public interface IShelf<T>
{
    int Count { get; }

    bool Add(T jar);
}

/// <summary>Holds what fits.</summary>
[Serializable]
public sealed class Shelf<T> : IShelf<T>, IDisposable where T : Jar
{
    private const int Limit = 12;
    private readonly List<T> jars = new();

    public event EventHandler? Changed;

    public Shelf()
    {
    }

    ~Shelf() => Dispose();

    public int Count => jars.Count;

    public T this[int index] => jars[index];

    // Adds one.
    [Obsolete("void Fake() {")]
    public bool Add(T jar)
    {
        bool Fits() => jars.Count < Limit;
        if (!Fits()) return false;
        jars.Add(jar);
        Changed?.Invoke(this, EventArgs.Empty);
        return true;
    }

    void IDisposable.Dispose() => Console.WriteLine(@"
class NotHere
{
");

    public static Shelf<T> operator +(Shelf<T> shelf, T jar)
    {
        shelf.Add(jar);
        return shelf;
    }

    public static implicit operator int(Shelf<T> shelf) => shelf.Count;

    public struct Lid
    {
        public int Turns { get; set; }
    }
}

static class Extensions
{
    public static bool Heavy(this Jar jar) => jar.Grams > 1000;
}
