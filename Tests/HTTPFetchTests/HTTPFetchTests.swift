// SPDX-License-Identifier: Apache-2.0

import Sockets
import Testing
import Wire

@testable import HTTPFetch

@Suite("Asking over HTTP")
struct HTTPFetchTests {
    @Test("a request that would be two is not sent", arguments: ["/a b", "/a\r\nX: y", "", "a"])
    func unfit(_ target: String) {
        #expect(throws: HTTPFetch.Failure.unfit) {
            try HTTPFetch.ask(
                HTTPFetch.Request(target, host: "h"), at: .unix(path: "/nowhere"),
                until: monotonicNow() + .seconds(1))
        }
    }
}
