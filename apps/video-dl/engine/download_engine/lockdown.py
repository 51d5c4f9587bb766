"""Blocks every way out of this process except the parent's guarded proxy.

The proxy checks addresses, and yt-dlp is configured to use it. This is the second lock, for
code that bypasses the proxy: an extractor with its own socket, `no_proxy` in the environment,
a browser started as a helper. It covers what Python itself does (PEP 578); `kernel_lock`
covers native code.
"""

import os
import sys

# They run a page's own script, without network permission and, if available, under the kernel's lock.
_ALLOWED_PROGRAMS = {'deno', 'node'}

_FORBIDDEN = {
    'socket.sendto': 'send datagrams',
    'socket.sendmsg': 'send datagrams',
    'socket.gethostbyaddr': 'resolve names',
    'socket.getnameinfo': 'resolve names',
    **dict.fromkeys(('os.system', 'os.exec', 'os.spawn', 'os.fork', 'os.forkpty', 'pty.spawn'),
                    'start programs other than JavaScript runtimes'),
    'os.killpg': 'kill other processes',
}

_allowed = set()


def allow_only(*addresses):
    """Sets the (host, port) pairs that are allowed from now on."""
    _allowed.clear()
    _allowed.update(addresses)


def _audit(event, args):
    if event == 'socket.connect':
        address = args[1]
        if not isinstance(address, tuple) or address[:2] not in _allowed:
            raise PermissionError('the download engine may only connect to its proxy')
    elif event in ('socket.getaddrinfo', 'socket.gethostbyname'):
        if args[0] not in {host for host, _ in _allowed}:
            raise PermissionError('the download engine may not resolve names')
    elif event in ('subprocess.Popen', 'os.posix_spawn'):
        # Since Python 3.13, the first starts most programs through the second.
        if os.path.basename(os.fsdecode(args[0])) not in _ALLOWED_PROGRAMS:
            raise PermissionError('the download engine may not start programs other than JavaScript runtimes')
    elif event == 'os.kill':
        if not _is_child(args[0]):
            raise PermissionError('the download engine may not kill other processes')
    elif event in _FORBIDDEN:
        raise PermissionError(f'the download engine may not {_FORBIDDEN[event]}')


def _is_child(pid):
    try:
        with open(f'/proc/{pid}/stat', encoding='ascii', errors='replace') as stat:
            return int(stat.read().rpartition(')')[2].split()[1]) == os.getpid()
    except (OSError, ValueError, IndexError):
        # Not Linux, or the process has exited. Its process group cleans up what a runtime leaves behind.
        return not sys.platform.startswith('linux')


def engage():
    sys.addaudithook(_audit)
