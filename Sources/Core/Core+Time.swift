// SPDX-License-Identifier: Apache-2.0

internal import Policy
package import Wire

/// Deadlines. They are exact: an input that comes at or after one finds it done.
extension Core {
    /// Does whatever is due. The shell calls it at `nextDeadline`; earlier or later calls do no harm.
    package mutating func tick(_ moment: Moment) {
        forgetAnnouncement()
        settle(moment)
    }

    /// When something is due next by itself; nil while nothing is.
    package var nextDeadline: MonotonicTime? {
        var next: MonotonicTime?
        func consider(_ time: MonotonicTime?) {
            if let time, next.map({ time < $0 }) ?? true { next = time }
        }
        consider(home.summary.deadline)
        consider(remote.summary.deadline)
        consider(home.retryAt)
        consider(remote.retryAt)
        if let opened {
            consider(opened.judge.expiry)
            if !opened.isReady { consider(opened.readyBy) }
        }
        consider(lockWord.ends)
        consider(request?.ends)
        consider(signatureTally.deadline)
        consider(delegated.pending.first?.value.ends)
        consider(delegated.closing.first?.value)
        return next
    }

    /// Done at the start of every input, so that no input can overtake a deadline that has passed.
    mutating func settle(_ moment: Moment) {
        guard let due, moment.now >= due else { return }
        touchDeadlines()
        for door in Door.allCases {
            // One line for each minute that ended: a late tick must not join two.
            while let line = self[door].summary.tick(at: moment.now) { tell(line, of: door, moment) }
            if let at = self[door].retryAt, moment.now >= at { retry(door, moment) }
        }
        if let opened, moment.now >= opened.judge.expiry {
            closeWindow(.expired, quiets: false, actor: .service, moment)
        }
        refreshWindow(moment)
        lockWord.expire(at: moment.now)
        refreshLock(moment)
        if let ends = request?.ends, moment.now >= ends { request = nil }
        while let oldest = delegated.pending.first, moment.now >= oldest.value.ends {
            delegated.pending.remove(oldest.key)
            forget(oldest.value.id)
        }
        dropAbandoned(moment)
        tellSignatures(moment)
    }
}
