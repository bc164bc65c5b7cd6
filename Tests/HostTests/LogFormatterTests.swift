import Core
import Testing
import Wire

@testable import Host

@Suite("Log lines")
struct LogFormatterTests {
    static let time = WallTime(milliseconds: 1_790_265_600_500)
    static let line = LogLine(
        .warning, "home door", [("port", "7455"), ("name", "Ada's \"iPad\""), ("empty", "")])

    @Test(
        "each form",
        arguments: [
            (
                Options.LogFormat.text,
                "2026-09-24T16:00:00.500Z warning home door port=7455 name=\"Ada's \\\"iPad\\\"\" empty=\"\"\n"
            ),
            (.journal, "<4>home door port=7455 name=\"Ada's \\\"iPad\\\"\" empty=\"\"\n"),
            (
                .json,
                "{\"time\":\"2026-09-24T16:00:00.500Z\",\"level\":\"warning\",\"message\":\"home door\",\"port\":\"7455\",\"name\":\"Ada's \\\"iPad\\\"\",\"empty\":\"\"}\n"
            ),
        ])
    func forms(_ format: Options.LogFormat, _ want: String) {
        #expect(LogFormatter.render(Self.line, at: Self.time, as: format) == want)
    }

    @Test("no value can begin a line of its own", arguments: Options.LogFormat.allCases)
    func oneLine(_ format: Options.LogFormat) {
        let line = LogLine(.info, "device", [("name", "a\nlevel=error b")])
        #expect(LogFormatter.render(line, at: Self.time, as: format).filter { $0 == "\n" }.count == 1)
    }
}
