"""What this process runs on: version and age of yt-dlp, JavaScript runtime."""

import datetime
import functools
import os
import sys


def prepare():
    """Makes the process deaf to its surroundings. To be called before yt_dlp is imported."""
    for name in list(os.environ):
        # The parent hands on what is needed; a key log would hold the keys of every connection.
        if name.lower().endswith('_proxy') or name == 'SSLKEYLOGFILE':
            del os.environ[name]
    os.environ['YTDLP_NO_PLUGINS'] = '1'
    # A virtual environment that was not activated still has its programs (deno).
    scripts = os.path.dirname(sys.executable)
    os.environ['PATH'] = os.pathsep.join(filter(None, (scripts, os.environ.get('PATH'))))


def describe(network_lock):
    """The fields of the ready message and of a health answer.

    `network_lock` is `kernel` where the system holds this process and its children to
    their ports, `process` where only Python's own sockets are watched.
    """
    from yt_dlp.version import __version__ as version
    runtime = javascript_runtime()
    return {
        'version': version,
        'ageDays': _age_days(version),
        'javascriptRuntime': f'{runtime.name} {runtime.version}' if runtime else None,
        'networkLock': network_lock,
    }


def _age_days(version):
    try:
        year, month, day = (int(part) for part in version.split('.')[:3])
        return max(0, (datetime.date.today() - datetime.date(year, month, day)).days)
    except ValueError:
        return None


# Its permission model knows the network from this version on (nodejs.org/api/permissions.html).
_LEAST_NODE = 25


@functools.lru_cache(maxsize=None)
def javascript_runtime():
    """The first supported runtime that is installed and can be kept off the network, as
    yt-dlp describes it; None where there is none or this yt-dlp knows of none (before 2025.11)."""
    try:
        from yt_dlp.globals import supported_js_runtimes
    except ImportError:
        return None
    for name in ('deno', 'node'):
        runtime_class = supported_js_runtimes.value.get(name)
        info = runtime_class().info if runtime_class else None
        if info and info.supported and (name != 'node' or _major(info.version) >= _LEAST_NODE):
            return info
    return None


def _major(version):
    digits = str(version).lstrip('v').partition('.')[0]
    return int(digits) if digits.isdigit() else 0
