"""Finds the extractor modules that can find players embedded in other sites' pages, from their source: importing
all of yt-dlp's modules would take 0.3 s longer and 13 MB more in every engine."""

import collections
import pathlib
import re

import yt_dlp.extractor

# What an extractor defines to find its players, and imports that `_IMPORT` doesn't read.
_SIGN = re.compile(br'_EMBED_REGEX|_extract_embed_urls|_extract_from_webpage|\nfrom \. import|from yt_dlp\.')
_IMPORT = re.compile(br'\nfrom \.+(\w+)')


def names():
    """Full names of the modules that may define such an extractor, or inherit from one."""
    sources = _sources(pathlib.Path(yt_dlp.extractor.__file__).parent)
    # The base of all extractors mentions everything, but finds nothing.
    found = {name for name, source in sources.items() if _SIGN.search(source)} - {'common'}
    imported = {name: {each.decode() for each in _IMPORT.findall(source)} for name, source in sources.items()}
    while more := {name for name, imports in imported.items() if name not in found and imports & found}:
        found |= more
    return {f'yt_dlp.extractor.{name}' for name in found}


def _sources(folder):
    """Source by module name. A package such as `youtube` counts as one module."""
    sources = collections.defaultdict(lambda: b'\n')
    for file in folder.rglob('*.py'):
        sources[file.relative_to(folder).parts[0].removesuffix('.py')] += file.read_bytes()
    return sources
