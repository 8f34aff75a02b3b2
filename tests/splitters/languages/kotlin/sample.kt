package pantry

import java.io.Closeable

/** How many jars fit. fun fake() {} */
const val LIMIT = 12

typealias Weight = Double

// One jar.
@JvmRecord
data class Jar(val label: String, val grams: Weight = 0.0) : Comparable<Jar> {
    val empty: Boolean get() = grams == 0.0

    override fun compareTo(other: Jar): Int = label.compareTo(other.label)

    companion object {
        fun parse(text: String): Jar {
            val (label, grams) = text.split(":")
            return Jar(label, grams.toDouble())
        }
    }
}

enum class Size(val litres: Int) {
    SMALL(1),
    LARGE(2);

    fun larger(): Boolean = this == LARGE
}

interface Store {
    fun add(jar: Jar): Boolean

    fun close() {
        println("class Fake {")
    }
}

sealed class Result {
    object Full : Result()

    class Added(val jar: Jar) : Result()
}

/** Holds what fits. */
class Shelf private constructor(private val jars: MutableList<Jar>) : Store, Closeable {
    constructor(limit: Int) : this(ArrayList(limit))

    init {
        require(jars.isEmpty()) { """
            fun notHere() {
        """ }
    }

    override fun add(jar: Jar): Boolean {
        fun fits() = jars.size < LIMIT
        return fits() && jars.add(jar)
    }

    override fun close() = jars.clear()
}

object Pantry {
    val shelf = Shelf(LIMIT)
}

fun String.toJar(): Jar = Jar.parse(this)

fun <T : Jar> List<T>.heaviest(): T? = maxByOrNull { it.grams }

val Jar.heavy: Boolean
    get() = grams > 1000
