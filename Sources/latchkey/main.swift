// SPDX-License-Identifier: Apache-2.0

import AdminCLI
import Terminal

exitProcess(run(Array(CommandLine.arguments.dropFirst()), .process()).rawValue)
