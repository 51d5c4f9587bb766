"""Caches YouTube's player between jobs: its script has 2.6 MB and takes seconds to parse.

Only caches what depends on the player alone, keyed by its URL: the preprocessed script, the
signature timestamp and the signature functions. Never caches data of a video, user or session.
"""

import collections
import functools
import re

from yt_dlp.cache import Cache

_PLAYER_KEY = re.compile(r'player:https://(?:www|m|music)\.youtube\.com/s/player/[\w./-]{1,200}')
_Store = collections.namedtuple('_Store', ('kept', 'max_entries', 'max_characters'))
# A preprocessed player has about 3 MB. Two are in use while YouTube switches versions.
_players = _Store({}, 4, 8 * 1024 * 1024)
_small = _Store({}, 64, 10_000)
_none = _Store({}, 0, 0)


class PlayerCache(Cache):
    """Implements yt-dlp's cache interface with two bounded in-memory stores."""

    def store(self, section, key, data, dtype='json'):
        kept, max_entries, max_characters = _store_of(section, key)
        if len(str(data)) <= max_characters:
            kept[section, key] = data
        while len(kept) > max_entries:
            # yt-dlp stores only what isn't there, so the first is the oldest.
            del kept[next(iter(kept))]

    def load(self, section, key, dtype='json', default=None, **_):
        return _store_of(section, key).kept.get((section, key), default)


def _store_of(section, key):
    if section == 'challenge-solver' and _PLAYER_KEY.fullmatch(key):
        return _players
    return _small if section in ('youtube-sts', 'youtube-sigfuncs') else _none


def engage():
    """Enables the parts of yt-dlp that cache the player."""
    try:
        from yt_dlp.extractor.youtube import YoutubeIE
        from yt_dlp.extractor.youtube.jsc._builtin.ejs import EJSBaseJCP
        for name in ('_load_player_data_from_cache', '_store_player_data_to_cache'):
            setattr(YoutubeIE, name, functools.partialmethod(getattr(YoutubeIE, name), use_disk_cache=True))
        EJSBaseJCP._ENABLE_PREPROCESSED_PLAYER_CACHE = True
    except (ImportError, AttributeError):
        # Before 2025.11, yt-dlp parses the player itself and caches nothing.
        return
