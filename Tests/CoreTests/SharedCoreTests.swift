// SPDX-License-Identifier: Apache-2.0

import Policy
import Synchronization
import Testing
import Wire

@testable import Core

struct SharedCoreTests {
    /// What an effect promises is published before the effect is handed over.
    @Test func publishesBeforeItTells() {
        let driver = Driver(devices: [Driver.record("D")])
        let seen = Mutex<[Bool]>([])
        let shared = Mutex<SharedCore?>(nil)
        let core = SharedCore(
            driver.core, clock: { .seconds(1) }, wall: { WallTime(milliseconds: 1) },
            carryOut: { effect in
                guard case .changeDone = effect else { return }
                let isPaired = shared.withLock { $0 }?.trust.isPaired(Driver.key("D")) ?? true
                seen.withLock { $0.append(isPaired) }
            })
        shared.withLock { $0 = core }
        let id = core.enter { core, moment in
            core.propose(.remove(Driver.key("D").id), actor: .service, moment)
        }
        guard case .pending(let change) = id else {
            Issue.record("not proposed")
            return
        }
        #expect(core.trust.isPaired(Driver.key("D")))
        core.enter { core, moment in core.committed(change, .committed, moment) }
        #expect(seen.withLock { $0 } == [false])
        shared.withLock { $0 = nil }
    }
}
