// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import LatchkeyClient
internal import Wire

/// How one command speaks: to a person or, with `--json`, to a program.
package struct Output {
    let console: Console
    /// Print the API's own bodies (spec 09 point 29).
    let isJSON: Bool
    let style: Style

    package init(_ console: Console, _ options: GlobalOptions) {
        self.console = console
        isJSON = options.json
        // https://no-color.org: any value that is not empty.
        let wanted = (console.environment("NO_COLOR") ?? "").isEmpty && !options.noColor
        style = Style(isColoured: console.outputIsTerminal && wanted && console.environment("TERM") != "dumb")
    }

    /// Text for a person, as it is.
    func print(_ text: String) { console.write(text) }

    /// A remark that is no result, on standard error.
    func remark(_ text: String) { console.complain("latchkey: \(text.visible)\n") }

    /// A body as it came, on one line.
    func print(body: [UInt8]) {
        var body = body[...]
        while let last = body.last, last == 0x0A || last == 0x0D { body.removeLast() }
        // An answer without a body still is one line, for whoever reads lines.
        console.write((body.isEmpty ? "{}" : String(decoding: body, as: UTF8.self)) + "\n")
    }

    /// A whole list as one JSON array.
    func print(items: [JSON]) {
        var writer = JSONWriter(capacity: 1024)
        writer.value(.array(items))
        print(body: writer.bytes)
    }

    /// An answer: its body, or the text made from it.
    func print<Value>(_ reply: Reply<Value>, _ text: (Value) -> String) {
        if isJSON { print(body: reply.body) } else { print(text(reply.value)) }
    }

    /// A list: its items, or the text made from them.
    func print<Item: APIObject>(_ list: ItemList<Item>, _ text: ([Item]) -> String) {
        if isJSON { print(items: list.json) } else { print(text(list.items)) }
    }
}
