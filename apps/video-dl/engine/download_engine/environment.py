"""The environment of this process: its variables, its certificate authorities, yt-dlp's version and age, and the
JavaScript runtime."""

import datetime
import functools
import os
import sys


def prepare():
    """Isolates the process from its environment variables. Call before importing yt_dlp."""
    for name in list(os.environ):
        # The parent passes the proxy explicitly. A key log would contain the keys of every connection.
        if name.lower().endswith('_proxy') or name == 'SSLKEYLOGFILE':
            del os.environ[name]
    os.environ['YTDLP_NO_PLUGINS'] = '1'
    # Find the programs (deno) of a virtual environment that isn't activated.
    scripts = os.path.dirname(sys.executable)
    os.environ['PATH'] = os.pathsep.join(filter(None, (scripts, os.environ.get('PATH'))))


def trust_only(path):
    """Replaces the default certificate authorities with those in a PEM file. Call before importing yt_dlp."""
    # OpenSSL and curl_cffi check this first.
    os.environ['SSL_CERT_FILE'] = path
    try:
        import certifi
    except ImportError:
        # Without certifi, yt-dlp uses OpenSSL's default.
        return
    certifi.where = lambda: path


def describe():
    """yt-dlp's part of the ready message and of a health result."""
    from yt_dlp.version import __version__ as version
    runtime = javascript_runtime()
    return {
        'version': version,
        'ageDays': _age_days(version),
        'javascriptRuntime': f'{runtime.name} {runtime.version}' if runtime else None,
    }


def _age_days(version):
    try:
        year, month, day = (int(part) for part in version.split('.')[:3])
        return max(0, (datetime.date.today() - datetime.date(year, month, day)).days)
    except ValueError:
        return None


# Node's permission model covers the network from this version on (nodejs.org/api/permissions.html).
_MIN_NODE_VERSION = (25,)


@functools.lru_cache(maxsize=None)
def javascript_runtime():
    """yt-dlp's description of the first installed and supported runtime that can be kept off the
    network; None if the system has none, or yt-dlp is too old to use one (before 2025.11)."""
    try:
        from yt_dlp.globals import supported_js_runtimes
    except ImportError:
        return None
    for name in ('deno', 'node'):
        runtime_class = supported_js_runtimes.value.get(name)
        info = runtime_class().info if runtime_class else None
        if info and info.supported and (name != 'node' or info.version_tuple >= _MIN_NODE_VERSION):
            return info
    return None
