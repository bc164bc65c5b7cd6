# Shared by the scripts in this folder; source it, do not run it. SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# Says something to the person at the terminal without mixing it into a command's own output.
say() { printf '%s\n' "$*" >&2; }

# Ends with a sentence that says what to do.
die() {
    say "$*"
    exit 1
}

# What the service, its CLI and the device tool build and run with.
run_packages=(
    pkg-config
    libssl-dev        # TLS, keys, digests
    libsqlite3-dev    # devices, settings, audit
    libqrencode-dev   # QR codes
    libmicrohttpd-dev # the local API
    libevent-dev      # door event loops
    libsystemd-dev    # readiness, socket activation, D-Bus
    libminiupnpc-dev  # what UPnP routers say, read
    libnatpmp-dev     # NAT-PMP
    python3           # the sample streaming process
)

# What only the tests use.
test_packages=(
    python3-venv   # the independent client's own packages
    zbar-tools     # reads the QR picture back
    librsvg2-bin   # draws the SVG for it
    iproute2       # network namespaces
    openssl        # a second opinion on TLS
    avahi-daemon   # the responder that the host is announced by
    avahi-utils    # another publisher beside it
    gcc            # the sample of delegated mode
    libjansson-dev # and its JSON
    dbus-daemon    # private message buses
    nftables       # packet rules in namespaces
)

# What only the benchmarks compare against.
bench_packages=(haproxy nginx-light build-essential python3)

# Prints the packages of its arguments that are not installed.
missing_packages() {
    local package
    for package in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s\n' "$package"
    done
}

# Installs what is missing of its arguments, and says what it installs.
install_packages() {
    local missing
    mapfile -t missing < <(missing_packages "$@")
    [ "${#missing[@]}" -gt 0 ] || return 0
    command -v apt-get >/dev/null || die "Missing: ${missing[*]}. Install them with your package manager (Debian names), then run this again."
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || die "Missing: ${missing[*]}. Run as root: apt-get install ${missing[*]}"
        as_root=(sudo)
    fi
    say "Installing: ${missing[*]}"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq >&2
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}

# The toolchain is the one thing these scripts do not install.
require_swift() {
    local version
    command -v swift >/dev/null || die "No Swift toolchain on PATH. Install Swift 6.2 or later, then run this again."
    version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p' | head -n 1)
    read -r major minor <<<"${version:-0 0}"
    if [ "$major" -lt 6 ] || { [ "$major" -eq 6 ] && [ "$minor" -lt 2 ]; }; then
        die "Swift ${major}.${minor} is too old: Latchkey needs 6.2 or later."
    fi
}
