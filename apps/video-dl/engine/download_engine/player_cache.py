"""Keeps YouTube's player between jobs: its script has 2.6 MB and takes seconds to read.

Only what follows from the player alone is kept, under the player's own address: its
preprocessed script, its signature timestamp and its signature functions. Nothing of a
video, a user or a session is.
"""

import collections
import functools
import re

from yt_dlp.cache import Cache

# A preprocessed player has about 3 MB; two are in use while YouTube changes over.
_MOST_PLAYERS = 4
_MOST_BYTES = 32 * 1024 * 1024

_PLAYER_KEY = re.compile(r'player:https://(?:www|m|music)\.youtube\.com/s/player/[\w./-]{1,200}')
_SMALL_SECTIONS = {'youtube-sts', 'youtube-sigfuncs'}
_MOST_SMALL = 64
_SMALL_CHARACTERS = 10_000

_players = collections.OrderedDict()
_small = collections.OrderedDict()


class PlayerCache(Cache):
    """yt-dlp's cache interface over the two bounded stores of this process."""

    @property
    def enabled(self):
        return True

    def store(self, section, key, data, dtype='json'):
        store, most = _store_of(section, key)
        if store is None or not _is_small_enough(section, data):
            return
        store[section, key] = data
        store.move_to_end((section, key))
        while len(store) > most:
            store.popitem(last=False)

    def load(self, section, key, dtype='json', default=None, **_):
        store, _most = _store_of(section, key)
        return default if store is None else store.get((section, key), default)

    def remove(self):
        """The stores end with the process."""


def _store_of(section, key):
    if section == 'challenge-solver' and _PLAYER_KEY.fullmatch(key):
        return _players, _MOST_PLAYERS
    return (_small, _MOST_SMALL) if section in _SMALL_SECTIONS else (None, 0)


def _is_small_enough(section, data):
    if section != 'challenge-solver':
        return len(repr(data)) <= _SMALL_CHARACTERS
    return isinstance(data, str) and len(data) <= _MOST_BYTES // _MOST_PLAYERS


def engage():
    """Switches the parts of yt-dlp on that ask the cache for a player."""
    try:
        from yt_dlp.extractor.youtube import YoutubeIE
        from yt_dlp.extractor.youtube.jsc._builtin.ejs import EJSBaseJCP
        load, store = YoutubeIE._load_player_data_from_cache, YoutubeIE._store_player_data_to_cache
    except (ImportError, AttributeError):
        # Before 2025.11 yt-dlp reads the player itself and has nothing to keep.
        return
    EJSBaseJCP._ENABLE_PREPROCESSED_PLAYER_CACHE = True

    @functools.wraps(load)
    def load_kept(self, name, player_url, *keys, **_):
        return load(self, name, player_url, *keys, use_disk_cache=True)

    @functools.wraps(store)
    def store_kept(self, data, name, player_url, *keys, **_):
        return store(self, data, name, player_url, *keys, use_disk_cache=True)

    YoutubeIE._load_player_data_from_cache = load_kept
    YoutubeIE._store_player_data_to_cache = store_kept
