// SPDX-License-Identifier: Apache-2.0

import DeviceCLI
import Terminal

exitProcess(runDeviceProcess(Array(CommandLine.arguments.dropFirst())).rawValue)
