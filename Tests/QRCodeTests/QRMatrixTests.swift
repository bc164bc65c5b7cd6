// SPDX-License-Identifier: Apache-2.0

import Foundation
import QRCode
import Testing

@Suite struct QRMatrixTests {
    static let link =
        "sill://pair?v=1&m=B9X7HK54M3T21PDW&k=Wnp4zKSg9CDZvGK7Zpw8J1njn3I9OuENy-DwgVoH7NQ&s=IiIiIiIiIiIiIiIiIiIiIg"
        + "&n=Mac%20mini&p=7455&a=100.101.102.103&a=192.168.1.20"

    @Test func finderPatternsStandInThreeCorners() throws {
        let matrix = try QRMatrix.encode(Self.link)
        #expect((21...177).contains(matrix.size))
        #expect((matrix.size - 17) % 4 == 0)
        #expect(matrix.rows.count == matrix.size && matrix.rows.allSatisfy { $0.count == matrix.size })
        let finder = ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"]
        let last = matrix.size - 7
        for (row, column) in [(0, 0), (0, last), (last, 0)] {
            let found = (row..<row + 7).map { row in
                (column..<column + 7).map { matrix.rows[row][$0] ? "1" : "0" }.joined()
            }
            #expect(found == finder)
        }
    }

    /// Format information, ISO/IEC 18004 section 7.9: bits 14 and 13 under the mask 10 are 00 for level M.
    @Test(arguments: ["a", link])
    func levelIsM(text: String) throws {
        let matrix = try QRMatrix.encode(text)
        #expect(matrix.rows[8][0] == true)
        #expect(matrix.rows[8][1] == false)
    }

    @Test func sameTextSameCode() throws {
        #expect(try QRMatrix.encode(Self.link) == QRMatrix.encode(Self.link))
    }

    @Test(arguments: [(0, QRError.Code.empty), (2332, .tooLong), (100_000, .tooLong)])
    func textsWithoutACode(count: Int, code: QRError.Code) {
        #expect {
            try QRMatrix.encode(String(repeating: "a", count: count))
        } throws: { ($0 as? QRError)?.code == code }
    }

    @Test func largestTextFits() throws {
        #expect(try QRMatrix.encode(String(repeating: "a", count: 2331)).size == 177)
    }

    @Test func jsonHasARowOfDigitsForEachRow() throws {
        let matrix = try QRMatrix.encode(Self.link)
        let object = try #require(
            JSONSerialization.jsonObject(with: Data(matrix.json().utf8)) as? [String: Any])
        #expect(object["size"] as? Int == matrix.size)
        #expect(object["quiet"] as? Int == 4)
        #expect(object["level"] as? String == "M")
        let rows = try #require(object["rows"] as? [String])
        #expect(rows.map { $0.map { $0 == "1" } } == matrix.rows)
    }

    @Test func halfBlocksDrawEveryModuleAndTheQuietZone() throws {
        let matrix = try QRMatrix.encode(Self.link)
        let lines = matrix.halfBlocks.split(separator: "\n")
        let side = matrix.size + 8
        #expect(lines.count == (side + 1) / 2)
        var light: [[Bool]] = []
        for line in lines {
            #expect(line.count == side)
            light.append(line.map { $0 == "█" || $0 == "▀" })
            light.append(line.map { $0 == "█" || $0 == "▄" })
        }
        for row in 0..<side {
            for column in 0..<side {
                let inside = matrix.rows.indices.contains(row - 4) && matrix.rows.indices.contains(column - 4)
                #expect(light[row][column] == !(inside && matrix.rows[row - 4][column - 4]))
            }
        }
    }

    @Test func svgHasAViewBoxAndAWhiteGround() throws {
        let matrix = try QRMatrix.encode(Self.link)
        let side = matrix.size + 8
        #expect(matrix.svg.contains(#"viewBox="0 0 \#(side) \#(side)""#))
        #expect(matrix.svg.contains(##"<rect width="\##(side)" height="\##(side)" fill="#fff"/>"##))
        #expect(matrix.svg.hasSuffix("</svg>\n"))
    }

    static let scannerIsInstalled =
        ["/usr/bin/zbarimg", "/usr/bin/rsvg-convert"].allSatisfy(FileManager.default.isExecutableFile)

    /// What a scanner that is not ours reads off the picture.
    @Test(
        .enabled(
            if: scannerIsInstalled, "zbar-tools and librsvg2-bin are missing; Scripts/setup installs them"),
        arguments: ["a", link, link + String(repeating: "&a=nas.example.org", count: 10)])
    func scannerReadsTheText(text: String) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let svg = directory.appending(path: "code.svg")
        let png = directory.appending(path: "code.png")
        try Data(QRMatrix.encode(text).svg.utf8).write(to: svg)
        _ = try run("/usr/bin/rsvg-convert", ["--width", "600", "--output", png.path, svg.path])
        #expect(try run("/usr/bin/zbarimg", ["--quiet", "--raw", png.path]) == text + "\n")
    }

    private func run(_ path: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: bytes, as: UTF8.self)
    }
}
