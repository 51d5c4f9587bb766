"""What this process runs on: version and age of yt-dlp, JavaScript runtime."""

import datetime
import os
import sys


def prepare():
    """Makes the process deaf to its surroundings. To be called before yt_dlp is imported."""
    for name in list(os.environ):
        if name.lower().endswith('_proxy'):
            del os.environ[name]
    os.environ['YTDLP_NO_PLUGINS'] = '1'
    # A virtual environment that was not activated still has its programs (deno).
    scripts = os.path.dirname(sys.executable)
    os.environ['PATH'] = os.pathsep.join(filter(None, (scripts, os.environ.get('PATH'))))


def describe():
    """The fields of the ready message and of a health answer."""
    from yt_dlp.version import __version__ as version
    runtime = javascript_runtime()
    return {
        'version': version,
        'ageDays': _age_days(version),
        'javascriptRuntime': f'{runtime.name} {runtime.version}' if runtime else None,
        'pythonVersion': '.'.join(map(str, sys.version_info[:3])),
    }


def _age_days(version):
    try:
        year, month, day = (int(part) for part in version.split('.')[:3])
        return max(0, (datetime.date.today() - datetime.date(year, month, day)).days)
    except ValueError:
        return None


_runtime = []


def javascript_runtime():
    """The first supported runtime that is installed, as yt-dlp describes it; None
    where there is none or this yt-dlp knows of none (before 2025.11)."""
    if not _runtime:
        _runtime.append(_find_runtime())
    return _runtime[0]


def _find_runtime():
    try:
        from yt_dlp.globals import supported_js_runtimes
    except ImportError:
        return None
    for name in ('deno', 'node'):
        runtime_class = supported_js_runtimes.value.get(name)
        info = runtime_class().info if runtime_class else None
        if info and info.supported:
            return info
    return None
