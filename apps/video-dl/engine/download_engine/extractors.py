"""Which extractors yt-dlp asks about a URL or a page. By itself, it asks all of them and imports every module."""

import functools
import pathlib
import re

import yt_dlp.extractor
from yt_dlp.extractor.common import InfoExtractor

# What an extractor defines to find its players in other sites' pages.
_FINDS_EMBEDS = re.compile(br'_EMBED_REGEX|_extract_embed_urls|_extract_from_webpage')
_FOLDER = pathlib.Path(yt_dlp.extractor.__file__).parent


class Extractors(dict):
    """All extractors by key. The generic extractor scans a page with those in `values()`, so that method returns only
    the ones that can find an embedded player."""

    def values(self):
        return embed_finders()


@functools.lru_cache(maxsize=None)
def all_extractors():
    return Extractors((extractor.ie_key(), extractor) for extractor in yt_dlp.extractor.gen_extractor_classes())


def key_for(url):
    """The key of the first extractor that suits a URL. The last suits every URL. yt-dlp's own search takes more than twice as long."""
    return next(key for key, suits in _url_tests() if suits(url))


@functools.lru_cache(maxsize=None)
def _url_tests():
    return [(key, _url_test(extractor)) for key, extractor in all_extractors().items()]


def _url_test(extractor):
    pattern = extractor._VALID_URL
    is_enough = isinstance(pattern, str) and _inherits(extractor, 'suitable', '_match_valid_url')
    return re.compile(pattern).match if is_enough else extractor.suitable


def _inherits(extractor, *methods):
    """Whether an extractor inherits these methods from the base class."""
    bases = ('InfoExtractor.', 'LazyLoadExtractor.')
    return all(getattr(extractor, name).__qualname__.startswith(bases) for name in methods)


@functools.lru_cache(maxsize=None)
def embed_finders():
    """Only imports modules whose source mentions embedded players: all of them would take 0.3 s longer and 13 MB more
    in every engine."""
    candidates = [extractor for extractor in dict.values(all_extractors()) if may_find_embeds(extractor)]
    return [cls for cls in map(real_class, candidates) if finds_embeds(cls)]


def may_find_embeds(extractor):
    modules = {getattr(cls, '_module', None) or cls.__module__ for cls in extractor.__mro__}
    # The base class mentions everything but finds nothing.
    return any(map(_mentions_embeds, modules - {InfoExtractor.__module__}))


@functools.lru_cache(maxsize=None)
def _mentions_embeds(module):
    # A package such as `youtube` counts as one module.
    path = _FOLDER / module.removeprefix('yt_dlp.extractor.').partition('.')[0]
    files = [path.with_suffix('.py'), *path.rglob('*.py')]
    return any(_FINDS_EMBEDS.search(file.read_bytes()) for file in files if file.exists())


def real_class(extractor):
    """Imports the module of an extractor that yt-dlp imports only when it is used."""
    return getattr(extractor, 'real_class', extractor)


def finds_embeds(cls):
    return bool(cls._EMBED_REGEX) or not _inherits(cls, '_extract_embed_urls', '_extract_from_webpage')
