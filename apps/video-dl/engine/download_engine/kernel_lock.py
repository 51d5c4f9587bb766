"""Has the Linux kernel restrict this process and all its children to a few TCP ports.

The audit hooks of `lockdown` see only Python's own sockets, but libcurl (curl_cffi) and
JavaScript runtimes open theirs in native code. The lock has two parts, both irrevocable and
inherited:

- Landlock (network rules since Linux 6.7, landlock(7)) allows TCP connections only to the
  given ports, and no listening sockets.
- A seccomp filter (seccomp(2)) allows only TCP sockets, since Landlock covers no others, and
  blocks ways around Landlock: fast open, io_uring, other processes.

A rule specifies a port, not an address. The ports are random ones on this machine.
"""

import ctypes
import errno
import os
import platform
import struct
import sys

_AF_INET, _AF_INET6, _SOCK_STREAM, _IPPROTO_TCP = 2, 10, 1, 6
_MSG_FASTOPEN = 0x20000000
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _SECCOMP_MODE_FILTER = 22, 38, 2

_LANDLOCK_CREATE_RULESET, _LANDLOCK_ADD_RULE, _LANDLOCK_RESTRICT_SELF = 444, 445, 446
_LANDLOCK_CREATE_RULESET_VERSION, _LANDLOCK_RULE_NET_PORT = 1, 2
_LANDLOCK_BIND_TCP, _LANDLOCK_CONNECT_TCP = 1, 2
_LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET, _LANDLOCK_SCOPE_SIGNAL = 1, 2

# Machine: (audit architecture, system call numbers); see the kernel's unistd headers.
_MACHINES = {
    'x86_64': (0xC000003E, {
        'socket': 41, 'sendto': 44, 'sendmsg': 46, 'sendmmsg': 307, 'ptrace': 101, 'io_uring_setup': 425,
        'process_vm_readv': 310, 'process_vm_writev': 311, 'pidfd_getfd': 438}),
    'aarch64': (0xC00000B7, {
        'socket': 198, 'sendto': 206, 'sendmsg': 211, 'sendmmsg': 269, 'ptrace': 117, 'io_uring_setup': 425,
        'process_vm_readv': 270, 'process_vm_writev': 271, 'pidfd_getfd': 438}),
}
_DENIED_CALLS = ('ptrace', 'process_vm_readv', 'process_vm_writev', 'pidfd_getfd', 'io_uring_setup')


def engage(ports):
    """Locks the process. Call while it has a single thread.

    Returns True if both parts are active, False if the system doesn't support them
    (not Linux, Linux before 6.7, a container runtime that forbids it).
    """
    if sys.platform != 'linux' or platform.machine() not in _MACHINES:
        return False
    libc = ctypes.CDLL(None)
    libc.syscall.restype = ctypes.c_long
    try:
        version = libc.syscall(_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _LANDLOCK_CREATE_RULESET_VERSION)
        if version < 4:
            return False
        _check(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        _restrict_ports(libc, version, ports)
        _filter_calls(libc)
        return True
    except OSError:
        return False


def _check(result):
    if result < 0:
        raise OSError('the system does not support a part of the lock')
    return result


def _restrict_ports(libc, version, ports):
    attributes = [0, _LANDLOCK_BIND_TCP | _LANDLOCK_CONNECT_TCP]
    if version >= 6:
        attributes.append(_LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | _LANDLOCK_SCOPE_SIGNAL)
    ruleset = struct.pack(f'={len(attributes)}Q', *attributes)
    descriptor = _check(libc.syscall(_LANDLOCK_CREATE_RULESET, ruleset, ctypes.c_size_t(len(ruleset)), 0))
    try:
        for port in ports:
            rule = struct.pack('=QQ', _LANDLOCK_CONNECT_TCP, port)
            _check(libc.syscall(_LANDLOCK_ADD_RULE, descriptor, _LANDLOCK_RULE_NET_PORT, rule, 0))
        _check(libc.syscall(_LANDLOCK_RESTRICT_SELF, descriptor, 0))
    finally:
        os.close(descriptor)


def _filter_calls(libc):
    program = _program(*_MACHINES[platform.machine()])
    buffer = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: the number of instructions, and where they are.
    filter_ = struct.pack('@HP', len(program) // 8, ctypes.addressof(buffer))
    _check(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, filter_, 0, 0))


# Classic BPF: load a word, compare and skip, mask, return (linux/bpf_common.h).
_LOAD, _EQUAL, _AT_LEAST, _AND, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x45, 0x06
_ALLOW = 0x7FFF0000
_DENY = 0x00050000 | errno.EACCES
# struct seccomp_data: number, architecture, instruction pointer, six arguments of 8 bytes.
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4
_ARGUMENTS_AT = range(16, 64, 8)


def _program(architecture, numbers):
    """The filter program. Forbidden calls and sockets fail with EACCES; everything else is allowed."""
    lines = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _DENY),
        # System calls of the x32 ABI have this bit set.
        (_LOAD, 0, 0, _NUMBER_AT), (_AT_LEAST, 0, 1, 0x40000000), (_RETURN, 0, 0, _DENY),
    ]
    for name in _DENIED_CALLS:
        lines += [(_EQUAL, 0, 1, numbers[name]), (_RETURN, 0, 0, _DENY)]
    # Fast open sends data to an address without connect().
    for name, flags in (('sendto', 3), ('sendmsg', 2), ('sendmmsg', 3)):
        lines += [(_EQUAL, 0, 4, numbers[name]), (_LOAD, 0, 0, _ARGUMENTS_AT[flags]),
                  (_ANY_BIT, 0, 1, _MSG_FASTOPEN), (_RETURN, 0, 0, _DENY), (_RETURN, 0, 0, _ALLOW)]
    lines += [
        (_EQUAL, 1, 0, numbers['socket']), (_RETURN, 0, 0, _ALLOW),
        (_LOAD, 0, 0, _ARGUMENTS_AT[0]), (_EQUAL, 2, 0, _AF_INET), (_EQUAL, 1, 0, _AF_INET6), (_RETURN, 0, 0, _DENY),
        (_LOAD, 0, 0, _ARGUMENTS_AT[1]), (_AND, 0, 0, 0xF), (_EQUAL, 1, 0, _SOCK_STREAM), (_RETURN, 0, 0, _DENY),
        # Landlock doesn't cover Multipath TCP.
        (_LOAD, 0, 0, _ARGUMENTS_AT[2]), (_EQUAL, 2, 0, 0), (_EQUAL, 1, 0, _IPPROTO_TCP), (_RETURN, 0, 0, _DENY),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b''.join(struct.pack('=HBBI', *line) for line in lines)
