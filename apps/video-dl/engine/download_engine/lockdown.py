"""Closes every way out of this process except the parent's guarded proxy.

The proxy is what checks addresses; yt-dlp is told to use it, and this is the
second lock for code that would not: an extractor with its own socket, an
environment's `no_proxy`, a browser started as a helper. It sees what Python itself
does (PEP 578); native code is held by `kernel_lock`.
"""

import os
import sys

# Run a page's own script: without network permission, and under the kernel's lock where there is one.
_ALLOWED_PROGRAMS = {'deno', 'node'}

_FORBIDDEN = {
    'socket.sendto': 'sends no datagrams',
    'socket.sendmsg': 'sends no datagrams',
    'socket.gethostbyaddr': 'looks up no names by itself',
    'socket.getnameinfo': 'looks up no names by itself',
    **dict.fromkeys(('os.system', 'os.exec', 'os.posix_spawn', 'os.spawn', 'os.fork', 'os.forkpty', 'pty.spawn'),
                    'starts no programs but JavaScript runtimes'),
    'os.killpg': 'ends no other process',
}

_allowed_addresses = set()
_always_allowed = set()


def allow_always(*addresses):
    """The (host, port) pairs that every job may connect to."""
    _always_allowed.update(addresses)


def allow_only(*addresses):
    """The (host, port) pairs that may be connected to from now on."""
    _allowed_addresses.clear()
    _allowed_addresses.update(addresses)


def _allowed():
    return _allowed_addresses | _always_allowed


def _audit(event, args):
    if event == 'socket.connect':
        address = args[1]
        if not isinstance(address, tuple) or address[:2] not in _allowed():
            raise PermissionError('the download engine may connect only to its proxy')
    elif event in ('socket.getaddrinfo', 'socket.gethostbyname'):
        if args[0] not in {host for host, _ in _allowed()}:
            raise PermissionError('the download engine looks up no names by itself')
    elif event == 'subprocess.Popen':
        if os.path.basename(os.fsdecode(args[0])) not in _ALLOWED_PROGRAMS:
            raise PermissionError('the download engine starts no programs but JavaScript runtimes')
    elif event == 'os.kill':
        if not _is_child(args[0]):
            raise PermissionError('the download engine ends no other process')
    elif event in _FORBIDDEN:
        raise PermissionError(f'the download engine {_FORBIDDEN[event]}')


def _is_child(pid):
    try:
        with open(f'/proc/{pid}/stat', encoding='ascii', errors='replace') as stat:
            return int(stat.read().rpartition(')')[2].split()[1]) == os.getpid()
    except (OSError, ValueError, IndexError):
        # Not Linux, or it has ended: what a runtime leaves is for its own group to end.
        return not sys.platform.startswith('linux')


def engage():
    sys.addaudithook(_audit)
