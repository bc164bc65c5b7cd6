// SPDX-License-Identifier: Apache-2.0

internal import APITypes

// The core has a `DeviceRef` of its own, and a module named like a type in it cannot qualify the name: this file
// imports one of the two modules alone.

/// A device named inside another object of the API.
typealias APIDeviceRef = DeviceRef
