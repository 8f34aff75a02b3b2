package pantry

import scala.collection.mutable

/** How large a jar is. class Fake */
enum Size(val litres: Int):
  case Small extends Size(1)
  case Large extends Size(2)

type Weight = Double

trait Weighable {
  def grams: Weight

  def heavy: Boolean = grams > 1000
}

// One jar.
final case class Jar(label: String, grams: Weight = 0) extends Weighable {
  def +(more: Weight): Jar = copy(grams = grams + more)

  override def toString: String = s"def $label {"
}

object Jar {
  val Limit = 12

  def parse(text: String): Jar = {
    def number(part: String): Weight = part.toDouble
    val Array(label, grams) = text.split(":")
    Jar(label, number(grams))
  }

  given Ordering[Jar] = Ordering.by(_.label)
}

/** Holds what fits. */
@deprecated("class NotHere {", "1.0")
class Shelf[T <: Weighable](limit: Int) {
  def this() = this(Jar.Limit)

  private val jars = mutable.Buffer.empty[T]

  def add(jar: T): Boolean =
    jars.size < limit && {
      jars += jar
      true
    }

  class Lid {
    def open(): Unit = println("""
      object NotHere {
    """)
  }
}

extension (text: String)
  def toJar: Jar = Jar.parse(text)

@main def run(): Unit =
  println("plum:1".toJar)
