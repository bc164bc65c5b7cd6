// SPDX-License-Identifier: Apache-2.0

internal import Core

// See APIDeviceRef.swift.

/// A device named inside another value of the core.
typealias CoreDeviceRef = DeviceRef
