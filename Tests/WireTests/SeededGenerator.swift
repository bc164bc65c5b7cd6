// SPDX-License-Identifier: Apache-2.0

/// SplitMix64: the same "random" inputs in every run, so that a failure can be run again.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// A text of up to `limit` characters of the alphabet.
    mutating func text(of alphabet: String, upTo limit: Int) -> String {
        let characters = Array(alphabet)
        let count = Int.random(in: 0...limit, using: &self)
        return String((0..<count).map { _ in characters[Int.random(in: 0..<characters.count, using: &self)] })
    }
}
