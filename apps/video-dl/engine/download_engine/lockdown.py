"""Closes every way out of this process except the parent's guarded proxy.

The proxy is what checks addresses; yt-dlp is told to use it, and this is the
second lock for code that would not: an extractor with its own socket, an
environment's `no_proxy`, a browser started as a helper. See PEP 578.
"""

import os
import sys

# yt-dlp starts these without network permission, to run a page's own script.
_ALLOWED_PROGRAMS = {'deno', 'node', 'bun', 'qjs'}

_allowed_addresses = set()


def allow_only(*addresses):
    """The (host, port) pairs that may be connected to from now on."""
    _allowed_addresses.clear()
    _allowed_addresses.update(addresses)


def _audit(event, args):
    if event == 'socket.connect':
        address = args[1]
        if not isinstance(address, tuple) or address[:2] not in _allowed_addresses:
            raise PermissionError('the download engine may connect only to its proxy')
    elif event in ('socket.getaddrinfo', 'socket.gethostbyname'):
        if args[0] not in {host for host, _ in _allowed_addresses}:
            raise PermissionError('the download engine looks up no names by itself')
    elif event in ('socket.sendto', 'socket.sendmsg'):
        raise PermissionError('the download engine sends no datagrams')
    elif event == 'subprocess.Popen':
        if os.path.basename(os.fsdecode(args[0])) not in _ALLOWED_PROGRAMS:
            raise PermissionError('the download engine starts no programs but JavaScript runtimes')
    elif event in ('os.system', 'os.exec'):
        raise PermissionError('the download engine starts no programs but JavaScript runtimes')


def engage():
    sys.addaudithook(_audit)
