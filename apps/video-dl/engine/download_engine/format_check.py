"""Checks whether a format that its extractor marks as doubtful is available."""

import urllib.parse

from yt_dlp.utils import YoutubeDLError

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
    lines = [line.strip() for line in text.splitlines()]
    if any(_is_protected(line) for line in lines):
        return False
    first = next((line for line in lines if line and not line.startswith('#')), None)
    if first is None or '#EXT-X-STREAM-INF' in text:
        return first is not None
    return _first_bytes(ydl, fmt, urllib.parse.urljoin(base, first))


def _is_protected(line):
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
