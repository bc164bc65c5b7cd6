import Glibc
import Host

exit(Daemon.run(arguments: CommandLine.arguments.dropFirst().map { $0 }, environment: Environment.current))
