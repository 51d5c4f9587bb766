"""Caches YouTube's player between jobs: its script has 2.6 MB and takes seconds to parse.

Only caches what depends on the player alone, keyed by its URL: the preprocessed script, the
signature timestamp and the signature functions. Never caches data of a video, user or session.
"""

import collections
import functools
import re

from yt_dlp.cache import Cache

_PLAYER_KEY = re.compile(r'player:https://(?:www|m|music)\.youtube\.com/s/player/[\w./-]{1,200}')
# Of four players. Two are in use while YouTube switches versions.
_MAX_ENTRIES = 16
# A preprocessed player has about 3 MB.
_MAX_CHARACTERS = 8 * 1024 * 1024
_kept = collections.OrderedDict()


class PlayerCache(Cache):
    """Implements yt-dlp's cache interface with a bounded store in memory."""

    @property
    def enabled(self):
        return True

    def store(self, section, key, data, dtype='json'):
        if not _is_of_player(section, key) or len(repr(data)) > _MAX_CHARACTERS:
            return
        _kept[section, key] = data
        _kept.move_to_end((section, key))
        if len(_kept) > _MAX_ENTRIES:
            _kept.popitem(last=False)

    def load(self, section, key, dtype='json', default=None, **_):
        return _kept.get((section, key), default)


def _is_of_player(section, key):
    is_script = section == 'challenge-solver' and _PLAYER_KEY.fullmatch(key)
    return is_script or section in ('youtube-sts', 'youtube-sigfuncs')


def engage():
    """Enables the parts of yt-dlp that cache the player."""
    try:
        from yt_dlp.extractor.youtube import YoutubeIE
        from yt_dlp.extractor.youtube.jsc._builtin.ejs import EJSBaseJCP
        functions = ('_load_player_data_from_cache', '_store_player_data_to_cache')
        originals = [getattr(YoutubeIE, name) for name in functions]
    except (ImportError, AttributeError):
        # Before 2025.11, yt-dlp parses the player itself and caches nothing.
        return
    EJSBaseJCP._ENABLE_PREPROCESSED_PLAYER_CACHE = True
    for name, original in zip(functions, originals):
        setattr(YoutubeIE, name, functools.partialmethod(original, use_disk_cache=True))
