// SPDX-License-Identifier: Apache-2.0

import AdminCLI
import Glibc

exit(run(Array(CommandLine.arguments.dropFirst()), .process()).rawValue)
