import Foundation

/// How many jars fit. func fake() {}
let limit = 12

typealias Weight = Double

protocol Weighable {
    var grams: Weight { get }

    func weigh() -> Weight
}

/// One jar.
struct Jar: Weighable, Equatable {
    let label: String
    var grams: Weight = 0

    init(_ label: String) {
        self.label = label
    }

    // In grams.
    @discardableResult
    func weigh() -> Weight {
        func rounded(_ value: Weight) -> Weight {
            value.rounded()
        }
        return rounded(grams)
    }

    static func parse(_ text: String) -> Jar {
        Jar("struct Fake { \(text)")
    }
}

enum Size: String {
    case small
    case large

    var litres: Int { self == .small ? 1 : 2 }

    mutating func grow() {
        self = .large
    }
}

/* Holds what fits. */
final class Shelf<T: Weighable> {
    private var jars: [T] = []

    deinit {
        jars.removeAll()
    }

    subscript(index: Int) -> T {
        jars[index]
    }

    func add(_ jar: T) throws {
        guard jars.count < limit else { throw ShelfError.full }
        jars.append(jar)
    }

    enum ShelfError: Error {
        case full
    }
}

actor Counter {
    func next() -> Int { 1 }
}

extension Shelf where T == Jar {
    func labels() -> [String] {
        jars.map { $0.label }
    }
}

func main() {
    print("""
        class NotHere {
        """)
}
