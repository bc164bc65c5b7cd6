// SPDX-License-Identifier: Apache-2.0

import DeviceCLI
import Terminal

let code = await runDevice(Array(CommandLine.arguments.dropFirst()), .process())
exitProcess(code.rawValue)
