import Testing

@testable import Host

@Suite("The machine's name")
struct MachineNameTests {
    @Test(
        "machine-info",
        arguments: [
            ("PRETTY_HOSTNAME=\"Ada's Den\"\nICON_NAME=computer\n", "Ada's Den"),
            ("ICON_NAME=x\nPRETTY_HOSTNAME=den\n", "den"),
            ("PRETTY_HOSTNAME='two words'", "two words"),
            ("PRETTY_HOSTNAME=\"\"\n", nil),
            ("PRETTY_HOSTNAME=\u{202E}\n", nil),
            ("HOSTNAME=den\n", nil),
            ("", nil),
        ])
    func pretty(_ text: String, _ want: String?) { #expect(MachineName.pretty(text) == want) }

    @Test("is never empty")
    func found() { #expect(!MachineName.find().isEmpty) }
}
