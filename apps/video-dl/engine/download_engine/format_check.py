"""Checks whether a format that its extractor marks as doubtful is available."""

import urllib.parse

from yt_dlp.utils import ExtractorError, YoutubeDLError

_BYTES = 1024
_PLAYLIST_BYTES = 4 * 1024 * 1024
_KEY_TAGS = ('#EXT-X-KEY:', '#EXT-X-SESSION-KEY:')


def works(ydl, fmt):
    """Whether the first bytes of the format arrive and it has no DRM."""
    try:
        return _works(ydl, fmt)
    except (YoutubeDLError, OSError, ValueError) as error:
        ydl.check_error = error
        return False


def _works(ydl, fmt):
    if not str(fmt.get('protocol') or '').startswith('m3u8'):
        return _first_bytes(ydl, fmt, fmt['url'])
    text, base = fmt.get('hls_media_playlist_data'), fmt['url']
    if not text:
        with _open(ydl, fmt, base, {}) as response:
            text = response.read(_PLAYLIST_BYTES).decode('utf-8', 'replace')
            base = getattr(response, 'url', None) or base
    if is_protected(text):
        raise ExtractorError('This video is DRM protected', expected=True)
    first = next((line.strip() for line in text.splitlines() if line.strip() and not line.startswith('#')), None)
    if first is None or '#EXT-X-STREAM-INF' in text:
        return first is not None
    return _first_bytes(ydl, fmt, urllib.parse.urljoin(base, first))


def is_protected(playlist):
    """Whether a playlist states a key that isn't simply at a URL."""
    return any(map(_is_protection, str(playlist).splitlines()))


def _is_protection(line):
    if line.startswith('#EXT-X-FAXS-CM:'):
        return True
    if not line.startswith(_KEY_TAGS):
        return False
    is_readable = 'METHOD=AES-128' in line or 'METHOD=NONE' in line
    return not is_readable or 'URI="skd://' in line or 'KEYFORMAT="com.' in line


def _first_bytes(ydl, fmt, url):
    with _open(ydl, fmt, url, {'Range': f'bytes=0-{_BYTES - 1}'}) as response:
        return bool(response.read(_BYTES))


def _open(ydl, fmt, url, headers):
    return ydl.urlopen(_request(url, {**(fmt.get('http_headers') or {}), **headers}))


def _request(url, headers):
    try:
        from yt_dlp.networking import Request
    except ImportError:
        from yt_dlp.utils import sanitized_Request as Request
    return Request(url, headers=headers)
