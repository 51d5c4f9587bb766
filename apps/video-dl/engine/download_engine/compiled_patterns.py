"""Keeps compiled regular expressions in a file, as Python keeps compiled modules. yt-dlp has 2000 of them, and
compiling them takes half of an engine's start.

This uses private parts of `re`, which has no public way to do it. If they differ, no file is written and every
pattern is compiled at every start.
"""

import array
import contextlib
import importlib.util
import marshal
import os
import sys

try:
    import _sre
    from re import _compiler
    _compile = _compiler.compile
    # What the compiled form depends on.
    _FORMAT = (sys.version, _sre.MAGIC, _sre.CODESIZE, sys.byteorder)
except (ImportError, AttributeError):
    # Before Python 3.11.
    _compiler = None

_file = importlib.util.cache_from_source(__file__).removesuffix('pyc') + 'patterns'
# By (pattern, flags): what `_sre.compile` takes after the pattern, its code as bytes.
_kept = {}
_missing = set()


def engage():
    """Takes patterns from the file from now on. Call before importing yt_dlp."""
    if _compiler is not None:
        _kept.update(_read())
        _compiler.compile = _compile_or_take


def release():
    """Compiles every pattern as usual again. Writes the file if it lacked many of those since `engage()`."""
    if _compiler is None:
        return
    _compiler.compile = _compile
    # Not for a few: engines with other extractors would write it in turn.
    if not sys.dont_write_bytecode and len(_missing) * 10 > len(_kept):
        with contextlib.suppress(AttributeError, TypeError, ValueError, OverflowError):
            _write({**_kept, **{key: _compiled(*key) for key in _missing}})
    _kept.clear()
    _missing.clear()


def _compile_or_take(pattern, flags=0):
    key = pattern, int(flags)
    if type(pattern) is not str:
        return _compile(pattern, flags)
    if key not in _kept:
        _missing.add(key)
        return _compile(pattern, flags)
    all_flags, code, *groups = _kept[key]
    return _sre.compile(pattern, all_flags, array.array('I', code).tolist(), *groups)


def _compiled(pattern, flags):
    recorder = _Recorder()
    _compiler._sre = recorder
    try:
        _compile(pattern, flags)
    finally:
        _compiler._sre = _sre
    all_flags, code, *groups = recorder.arguments
    return int(all_flags), array.array('I', code).tobytes(), *groups


class _Recorder:
    """Stands in for `_sre` while a pattern is compiled."""

    def __getattr__(self, name):
        return getattr(_sre, name)

    def compile(self, pattern, *arguments):
        self.arguments = arguments
        return _sre.compile(pattern, *arguments)


def _read():
    try:
        with open(_file, 'rb') as file:
            content = marshal.load(file)
        return content['patterns'] if content['format'] == _FORMAT else {}
    except (OSError, EOFError, ValueError, TypeError, KeyError):
        # It doesn't exist yet, or is damaged.
        return {}


def _write(patterns):
    unfinished = f'{_file}.{os.getpid()}'
    try:
        os.makedirs(os.path.dirname(_file), exist_ok=True)
        with open(unfinished, 'wb') as file:
            marshal.dump({'format': _FORMAT, 'patterns': patterns}, file)
        os.replace(unfinished, _file)
    except OSError:
        # The folder is read-only, or the disk is full.
        with contextlib.suppress(OSError):
            os.remove(unfinished)
