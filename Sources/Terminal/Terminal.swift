// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// One of the two streams a command writes to, and what a person sees of it.
package enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    /// Whether a person reads it directly: only then colour, pictures and redrawn lines make sense.
    package var isTerminal: Bool { isatty(rawValue) == 1 }

    /// Columns of the terminal behind it; nil when it is none or does not say.
    package var columns: Int? {
        var size = winsize()
        guard unsafe ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Rows of the terminal behind it; nil when it is none or does not say.
    package var rows: Int? {
        var size = winsize()
        guard unsafe ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0 else { return nil }
        return Int(size.ws_row)
    }

    /// Writes all of `text`; false when the reader is gone or the disk is full.
    @discardableResult
    package func write(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
                return unsafe Glibc.write(rawValue, rest.baseAddress, rest.count)
            }
            if count > 0 { done += count } else if errno != EINTR { return false }
        }
        return true
    }
}

/// Whether a person can be asked: standard input is a terminal.
package func inputIsTerminal() -> Bool { isatty(0) == 1 }

/// One line of standard input without its end; nil at the end of it. At most 4,096 bytes are kept.
package func readInputLine() -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while true {
        let count = unsafe read(0, &byte, 1)
        if count < 0, errno == EINTR { continue }
        if count <= 0 { return line.isEmpty ? nil : String(decoding: line, as: UTF8.self) }
        if byte == 0x0A { return String(decoding: line, as: UTF8.self) }
        if line.count < 4096 { line.append(byte) }
    }
}

/// One line of the terminal that is standard input, without showing it; nil after Ctrl-C, at the end of input, or when
/// the terminal cannot be told to hide it. At most 4,096 bytes are kept. `question` is written once nothing is shown.
package func readSecretLine(after question: String) -> String? {
    var shown = termios()
    guard unsafe tcgetattr(0, &shown) == 0 else { return nil }
    var hidden = shown
    // Byte by byte and without signals, so that Ctrl-C cannot leave the terminal hiding what is typed.
    hidden.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
    guard unsafe tcsetattr(0, TCSAFLUSH, &hidden) == 0 else { return nil }
    defer {
        unsafe tcsetattr(0, TCSAFLUSH, &shown)
        StandardStream.error.write("\n")
    }
    StandardStream.error.write(question)
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while true {
        let count = unsafe read(0, &byte, 1)
        if count < 0, errno == EINTR { continue }
        if count <= 0 { return nil }
        switch byte {
        case 0x0A, 0x0D: return String(decoding: line, as: UTF8.self)
        case 0x03, 0x04: return nil
        case 0x08, 0x7F: while let last = line.popLast(), last & 0xC0 == 0x80 {}
        case 0x15: line = []
        default: if line.count < 4096 { line.append(byte) }
        }
    }
}
