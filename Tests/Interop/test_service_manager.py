# SPDX-License-Identifier: Apache-2.0
"""What systemd hears: readiness, the watchdog's word, the stop (sd_notify(3))."""

import socket

import harness


def test_systemd_hears_ready_watchdog_and_stopping(start, scratch):
    path = f"{scratch}/notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(path)
        listener.settimeout(harness.FRIENDLY)
        service = start(env={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "200000"})
        heard = []
        while heard.count("WATCHDOG=1") < 3 or "READY=1" not in heard:
            heard += listener.recv(4096).decode().splitlines()
        assert service.stop() == 0
        while "STOPPING=1" not in heard:
            heard += listener.recv(4096).decode().splitlines()
        assert not (service.runtime / "endpoints.json").exists()
        assert not (service.runtime / "api.sock").exists()

