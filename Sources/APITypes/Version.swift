// The one place that says which release this is. SPDX-License-Identifier: Apache-2.0

/// The version of this release, of every program in it and of the service in `GET /v1/status`.
package let latchkeyVersion = "0.1.0"
