"""The subtitles that an extractor lists without a further request."""

import urllib.parse

from . import limits

# Those that the parent reads, best first. YouTube's json3 has each automatic line once; its vtt repeats lines that scroll.
_FORMATS = {'json3': 'json3', 'vtt': 'vtt', 'srt': 'srt', 'ttml': 'ttml', 'dfxp': 'ttml'}
_ORIGINAL = '-orig'
# Vimeo's.
_AUTOMATIC = '-x-autogen'


def listed(info):
    """(language, whether they are automatic, version) of each track."""
    tracks = {}
    for field in ('subtitles', 'automatic_captions'):
        for name, versions in (info.get(field) or {}).items():
            version = _best(versions)
            is_automatic = field == 'automatic_captions' or str(name).endswith(_AUTOMATIC)
            language = str(name).removesuffix(_AUTOMATIC).removesuffix(_ORIGINAL)
            if version:
                tracks.setdefault((language, is_automatic), version)
    return [(*key, version) for key, version in tracks.items()][:limits.SUBTITLES]


def format_of(version):
    return _FORMATS.get(version.get('ext'))


def is_playlist(version):
    path = urllib.parse.urlsplit(version['url']).path
    return str(version.get('protocol')).startswith('m3u8') or path.endswith('.m3u8')


def _best(versions):
    usable = [each for each in versions or [] if isinstance(each, dict) and _is_readable(each)]
    order = list(_FORMATS)
    return min(usable, key=lambda each: order.index(each['ext']), default=None)


def _is_readable(version):
    url = version.get('url')
    if not isinstance(url, str) or len(url) > limits.URL_CHARACTERS or not format_of(version) or version.get('fragments'):
        return False
    # YouTube rejects most requests for its machine translations, and a client can translate.
    return 'tlang' not in urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)
