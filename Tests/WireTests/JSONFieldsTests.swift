// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct JSONFieldsTests {
    static let sample = #"""
        {"s":"x","t":true,"f":false,"i":7,"d":7.5,"whole":7.0,"o":{"k":1},"a":[1],"n":null,"one":1,"zero":0,"text1":"1",
        "texttrue":"true","i":8,"s":null,"big":1e300}
        """#

    private func json() throws -> JSON { try JSON.parse(Self.sample) }

    @Test func readsWhatIsThere() throws {
        let json = try json()
        #expect(try json.requiredString("s") == "x")
        #expect(try json.requiredBool("t") == true)
        #expect(try json.requiredBool("f") == false)
        #expect(try json.requiredInt("i") == 7)
        #expect(try json.requiredInt("whole") == 7)
        #expect(try json.requiredDouble("d") == 7.5)
        #expect(try json.requiredDouble("i") == 7)
        #expect(try json.requiredObject("o")["k"]?.int == 1)
        #expect(try json.requiredArray("a") == [.integer(1)])
        #expect(try json.optionalString("s") == "x")
        #expect(try json.optionalBool("t") == true)
        #expect(try json.optionalInt("whole") == 7)
        #expect(try json.optionalDouble("big") == 1e300)
        #expect(try json.optionalObject("o")?["k"]?.int == 1)
        #expect(try json.optionalArray("a")?.count == 1)
        #expect(json["n"]?.isNull == true)
        #expect(json["s"]?.string == "x")
        #expect(json["missing"] == nil)
    }

    @Test(arguments: ["n", "missing", "S", "I"])
    func nullAndAbsentAreTheSame(key: String) throws {
        let json = try json()
        #expect(try json.optionalString(key) == nil)
        #expect(try json.optionalBool(key) == nil)
        #expect(try json.optionalInt(key) == nil)
        #expect(try json.optionalDouble(key) == nil)
        #expect(try json.optionalObject(key) == nil)
        #expect(try json.optionalArray(key) == nil)
        #expect(throws: JSONError(field: key, message: "is missing")) { try json.requiredString(key) }
        #expect(throws: JSONError.self) { try json.requiredBool(key) }
        #expect(throws: JSONError.self) { try json.requiredInt(key) }
        #expect(throws: JSONError.self) { try json.requiredDouble(key) }
        #expect(throws: JSONError.self) { try json.requiredObject(key) }
        #expect(throws: JSONError.self) { try json.requiredArray(key) }
    }

    /// Nothing stands in for another type, required or not.
    @Test func wrongTypesFail() throws {
        let json = try json()
        for key in ["t", "i", "d", "o", "a"] {
            #expect(throws: JSONError(field: key, message: "is not a string")) {
                try json.optionalString(key)
            }
            #expect(throws: JSONError.self) { try json.requiredString(key) }
        }
        for key in ["s", "i", "one", "zero", "texttrue", "o", "a"] {
            #expect(throws: JSONError.self) { try json.optionalBool(key) }
            #expect(throws: JSONError.self) { try json.requiredBool(key) }
        }
        for key in ["s", "text1", "t", "f", "d", "big", "o", "a"] {
            #expect(throws: JSONError.self) { try json.optionalInt(key) }
            #expect(throws: JSONError.self) { try json.requiredInt(key) }
        }
        for key in ["s", "text1", "t", "o", "a"] {
            #expect(throws: JSONError.self) { try json.optionalDouble(key) }
            #expect(throws: JSONError.self) { try json.requiredDouble(key) }
        }
        for key in ["s", "i", "t", "a"] {
            #expect(throws: JSONError.self) { try json.optionalObject(key) }
        }
        for key in ["s", "i", "t", "o"] {
            #expect(throws: JSONError.self) { try json.optionalArray(key) }
        }
    }

    @Test(arguments: ["[]", "null", "1", "\"s\"", "true"])
    func whatIsNoObjectHasNoFields(text: String) throws {
        let json = try JSON.parse(text)
        #expect(json["s"] == nil)
        #expect(throws: JSONError.self) { try json.optionalString("s") }
        #expect(throws: JSONError.self) { try json.requiredInt("s") }
    }

    @Test func theFirstOfTwoKeysCounts() throws {
        let json = try JSON.parse(#"{"a":1,"a":"x"}"#)
        #expect(try json.requiredInt("a") == 1)
    }

    @Test func keysAreComparedByBytes() throws {
        // The Kelvin sign equals K for Swift's strings.
        let json = try JSON.parse("{\"\u{212A}\":1,\"e\u{301}\":2}")
        #expect(json["K"] == nil)
        #expect(json["\u{E9}"] == nil)
        #expect(json["e\u{301}"]?.int == 2)
    }

    @Test func errorsNameTheField() throws {
        let error = JSONError(field: "bitrate", message: "is missing")
        #expect(error.inside("home").field == "home.bitrate")
        #expect(JSONError(message: "is not an object").inside("home").field == "home")
        #expect("\(error)" == "bitrate: is missing")
    }
}
