// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import LatchkeyClient
internal import Sockets
internal import Wire

/// `latchkey pair`: opens a window, shows it, and waits for what becomes of it (spec 08; 09 point 29).
struct PairRun {
    let client: Client
    let output: Output
    let options: PairOptions

    func perform() throws -> ExitCode {
        if options.noWait {
            let window = try open()
            show(window)
            return .done
        }
        // Ctrl-C from here on closes the window that may have been opened.
        let wait = output.console.catchStops()
        // Before the window, so that not even the first event is missed.
        var events = try client.events()
        let window = try open()
        show(window)
        let end = try PairWatch(client: client, output: output, window: window.value).watch(&events, wait)
        return finish(end)
    }

    private func open() throws -> Reply<Window> {
        let request = WindowRequest(
            lifetime: options.lifetime.map(Double.init), remote: options.homeOnly ? false : nil)
        let window =
            try options.attach ? client.window() : client.openWindow(request, replace: options.replace)
        if let path = options.svg {
            do {
                // The picture is the secret: nobody else may read it.
                try writeFileAtomically(path, try client.windowPicture(), mode: 0o600)
            } catch let error as SocketError {
                _ = try? client.closeWindow()
                throw Failure(
                    .refused, "the picture cannot be written: \(error.message)",
                    advice: ["The window was closed again."])
            }
        }
        return window
    }

    private func show(_ window: Reply<Window>) {
        if output.isJSON { return output.print(body: window.body) }
        if options.draw || output.console.outputIsTerminal {
            output.print(
                WindowText.screen(window.value, columns: output.console.columns() ?? 80, style: output.style))
        } else {
            output.print(WindowText.lines(window.value))
        }
    }

    private func finish(_ end: WindowEnd) -> ExitCode {
        switch end {
        case .paired(let device):
            if output.isJSON {
                output.print(body: WindowText.outcome("paired", device: device.body))
            } else {
                let model = device.value.model.map { ", \($0)" } ?? ""
                output.print("Paired \(device.value.name.visible) (\(device.value.id)\(model.visible)).\n")
            }
            return .done
        case .closed(let outcome):
            if output.isJSON { output.print(body: WindowText.outcome(outcome, device: nil)) }
            output.console.complain(Failure(.refused, WindowText.why(outcome), advice: WindowText.next).text)
            return .refused
        case .stopped(let stop):
            if output.isJSON { output.print(body: WindowText.outcome("cancelled", device: nil)) }
            output.console.complain("latchkey: the window is cancelled\n")
            switch stop {
            case .interrupt: return .interrupted
            case .terminate(let code): return code
            }
        }
    }
}
