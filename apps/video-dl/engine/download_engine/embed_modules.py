"""Finds the extractor modules that can find players embedded in other sites' pages, from their source: importing
all of yt-dlp's modules would take 0.3 s longer and 13 MB more in every engine."""

import os

import yt_dlp.extractor

# What an extractor defines to find its players, and imports that `_imported` doesn't read.
_SIGNS = (b'_EMBED_REGEX', b'_extract_embed_urls', b'_extract_from_webpage', b'\nfrom . import', b'from yt_dlp.')


def names():
    """Full names of the modules that may define such an extractor, or inherit from one; None if yt-dlp's
    source isn't installed."""
    sources = _sources(os.path.dirname(yt_dlp.extractor.__file__))
    found = {name for name, source in sources.items() if any(sign in source for sign in _SIGNS)}
    if not found:
        return None
    # The base of all extractors mentions everything, but finds nothing.
    found.discard(b'common')
    imported = {name: _imported(source) for name, source in sources.items() if name not in found}
    while more := {name for name, imports in imported.items() if name not in found and imports & found}:
        found |= more
    return {f'yt_dlp.extractor.{os.fsdecode(name)}' for name in found}


def _sources(folder):
    """Source by module name. A package such as `youtube` counts as one module."""
    sources = {}
    for path, _, files in os.walk(os.fsencode(folder)):
        for file in files:
            if file.endswith(b'.py'):
                full = os.path.join(path, file)
                name = os.path.relpath(full, os.fsencode(folder)).partition(os.fsencode(os.sep))[0]
                with open(full, 'rb') as source:
                    name = name.removesuffix(b'.py')
                    sources[name] = sources.get(name, b'\n') + source.read()
    return sources


def _imported(source):
    """Names of the sibling modules that a module imports."""
    lines = source.split(b'\nfrom .')[1:]
    return {line[:line.find(b' ')].lstrip(b'.').partition(b'.')[0] for line in lines}
