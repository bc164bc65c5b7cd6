// SPDX-License-Identifier: Apache-2.0

import Testing

/// `#expect` for loops of many thousand rounds: costs nothing while all is well.
func check(
    _ isRight: Bool, _ about: @autoclosure () -> String, at location: SourceLocation = #_sourceLocation
) {
    if !isRight { Issue.record("\(about())", sourceLocation: location) }
}
