import Glibc
import Host

exit(Daemon.main())
