// SPDX-License-Identifier: Apache-2.0

internal import CQRencode

/// Text that has no QR code.
package struct QRError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Code: Sendable {
        /// There is nothing to encode.
        case empty
        /// More than 2,331 bytes: the largest symbol at level M is full.
        case tooLong
        /// The library failed, for want of memory.
        case failed
    }

    package let code: Code

    package var description: String {
        switch code {
        case .empty: "there is nothing to make a QR code of"
        case .tooLong: "the text is too long for a QR code"
        case .failed: "the QR code could not be made"
        }
    }
}

/// A QR code (ISO/IEC 18004), level M, byte mode, in the smallest version that holds the text.
package struct QRMatrix: Equatable, Sendable {
    /// Light modules that every drawing keeps free on each side; scanners want four.
    package static let quiet = 4
    /// The error correction level: M corrects 15 %, enough for a screen or a print, and keeps a link's code small.
    package static let level = "M"

    /// Modules on a side, without the quiet zone: 21 to 177.
    package let size: Int
    /// Top to bottom, left to right; true is dark.
    package let rows: [[Bool]]

    private static let largestText = 2331

    /// Encodes the UTF-8 of `text` as it is. Throws `empty`, `tooLong` or `failed`.
    package static func encode(_ text: String) throws(QRError) -> QRMatrix {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty else { throw QRError(code: .empty) }
        guard bytes.count <= largestText else { throw QRError(code: .tooLong) }
        // Version 0: the smallest that fits.
        guard let code = unsafe QRcode_encodeData(Int32(bytes.count), bytes, 0, QR_ECLEVEL_M) else {
            throw QRError(code: .failed)
        }
        defer { unsafe QRcode_free(code) }
        let size = unsafe Int(code.pointee.width)
        guard let data = unsafe code.pointee.data, size > 0 else { throw QRError(code: .failed) }
        let modules = unsafe UnsafeBufferPointer(start: data, count: size * size)
        // The lowest bit is the module; the others say what it is for.
        let rows = (0..<size).map { row in
            (0..<size).map { column in unsafe modules[row * size + column] & 1 == 1 }
        }
        return QRMatrix(size: size, rows: rows)
    }

    /// Whether a module is dark; light everywhere outside, so that drawings can walk over the quiet zone.
    func isDark(row: Int, column: Int) -> Bool {
        rows.indices.contains(row) && rows[row].indices.contains(column) && rows[row][column]
    }
}
