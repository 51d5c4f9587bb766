"""Caches YouTube's player between jobs: its script has 2.6 MB and takes seconds to parse.

Only caches what depends on the player alone, keyed by its URL: the preprocessed script, the
signature timestamp and the signature functions. Never caches data of a video, user or session.
"""

import collections
import functools
import re

from yt_dlp.cache import Cache

# A preprocessed player has about 3 MB. Two are in use while YouTube switches versions.
_MAX_PLAYERS = 4
_MAX_BYTES = 32 * 1024 * 1024

_PLAYER_KEY = re.compile(r'player:https://(?:www|m|music)\.youtube\.com/s/player/[\w./-]{1,200}')
_SMALL_SECTIONS = {'youtube-sts', 'youtube-sigfuncs'}
_MAX_SMALL = 64
_SMALL_CHARACTERS = 10_000

_players = collections.OrderedDict()
_small = collections.OrderedDict()


class PlayerCache(Cache):
    """Implements yt-dlp's cache interface with two bounded in-memory stores."""

    @property
    def enabled(self):
        return True

    def store(self, section, key, data, dtype='json'):
        store, max_entries = _store_of(section, key)
        if store is None or not _is_small_enough(section, data):
            return
        store[section, key] = data
        store.move_to_end((section, key))
        while len(store) > max_entries:
            store.popitem(last=False)

    def load(self, section, key, dtype='json', default=None, **_):
        store, _max_entries = _store_of(section, key)
        return default if store is None else store.get((section, key), default)

    def remove(self):
        """Does nothing: the stores exist only in memory."""


def _store_of(section, key):
    if section == 'challenge-solver' and _PLAYER_KEY.fullmatch(key):
        return _players, _MAX_PLAYERS
    return (_small, _MAX_SMALL) if section in _SMALL_SECTIONS else (None, 0)


def _is_small_enough(section, data):
    if section != 'challenge-solver':
        return len(repr(data)) <= _SMALL_CHARACTERS
    return isinstance(data, str) and len(data) <= _MAX_BYTES // _MAX_PLAYERS


def engage():
    """Enables the parts of yt-dlp that cache the player."""
    try:
        from yt_dlp.extractor.youtube import YoutubeIE
        from yt_dlp.extractor.youtube.jsc._builtin.ejs import EJSBaseJCP
        load, store = YoutubeIE._load_player_data_from_cache, YoutubeIE._store_player_data_to_cache
    except (ImportError, AttributeError):
        # Before 2025.11, yt-dlp parses the player itself and caches nothing.
        return
    EJSBaseJCP._ENABLE_PREPROCESSED_PLAYER_CACHE = True

    @functools.wraps(load)
    def load_cached(self, name, player_url, *keys, **_):
        return load(self, name, player_url, *keys, use_disk_cache=True)

    @functools.wraps(store)
    def store_cached(self, data, name, player_url, *keys, **_):
        return store(self, data, name, player_url, *keys, use_disk_cache=True)

    YoutubeIE._load_player_data_from_cache = load_cached
    YoutubeIE._store_player_data_to_cache = store_cached
