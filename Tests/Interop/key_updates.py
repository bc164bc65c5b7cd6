# SPDX-License-Identifier: Apache-2.0
"""A device that only asks for new keys (RFC 8446 section 4.6.3), each request wanting one in answer, and reads nothing.

Usage: key_updates.py HOST PORT PEM PROTOCOL LIMIT. Prints how many requests the host's machine took: LIMIT, or fewer
when it took none for a second, or ended it. OpenSSL by its C interface, which no Python package has for this.
"""

import ctypes
import ctypes.util
import select
import socket
import sys

WANT_WRITE, REQUESTED, PEM_FILE = 3, 1, 1


def library():
    found = ctypes.CDLL(ctypes.util.find_library("ssl") or "libssl.so.3")
    pointer = ctypes.c_void_p
    for name in ("TLS_client_method", "SSL_CTX_new", "SSL_new"):
        getattr(found, name).restype = pointer
    for name, *kinds in (
            ("SSL_CTX_new", pointer), ("SSL_new", pointer), ("SSL_set_fd", pointer, ctypes.c_int),
            ("SSL_CTX_use_certificate_file", pointer, ctypes.c_char_p, ctypes.c_int),
            ("SSL_CTX_use_PrivateKey_file", pointer, ctypes.c_char_p, ctypes.c_int),
            ("SSL_set_alpn_protos", pointer, ctypes.c_char_p, ctypes.c_uint), ("SSL_connect", pointer),
            ("SSL_write", pointer, ctypes.c_char_p, ctypes.c_int), ("SSL_key_update", pointer, ctypes.c_int),
            ("SSL_do_handshake", pointer), ("SSL_get_error", pointer, ctypes.c_int)):
        getattr(found, name).argtypes = kinds
    return found


def main(host, port, pem, protocol, limit):
    ssl = library()
    context = ssl.SSL_CTX_new(ssl.TLS_client_method())
    for use in (ssl.SSL_CTX_use_certificate_file, ssl.SSL_CTX_use_PrivateKey_file):
        assert use(context, pem.encode(), PEM_FILE) == 1
    connection = socket.socket()
    # Little in the kernels' buffers, so that what is taken is taken by the host.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    connection.connect((host, int(port)))
    session = ssl.SSL_new(context)
    ssl.SSL_set_alpn_protos(session, bytes([len(protocol)]) + protocol.encode(), len(protocol) + 1)
    ssl.SSL_set_fd(session, connection.fileno())
    assert ssl.SSL_connect(session) == 1
    if protocol == "sill/1":
        hello = bytes([23]) + bytes(12) + b"\2{}"
        ssl.SSL_write(session, hello, len(hello))
    connection.setblocking(False)
    taken, waits = 0, False
    while taken < int(limit):
        if not waits:
            assert ssl.SSL_key_update(session, REQUESTED) == 1
        result = ssl.SSL_do_handshake(session)
        waits = result != 1
        if result == 1:
            taken += 1
        elif ssl.SSL_get_error(session, result) != WANT_WRITE or not select.select([], [connection], [], 1)[1]:
            break
    print(taken)


if __name__ == "__main__":
    main(*sys.argv[1:])
