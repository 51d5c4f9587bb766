"""Checks whether a format that may be unavailable or protected is available."""

import re
import urllib.parse

from yt_dlp.utils import ExtractorError, YoutubeDLError

_BYTES = 4096
_PLAYLIST_BYTES = 4 * 1024 * 1024
_KEY_TAGS = ('#EXT-X-KEY:', '#EXT-X-SESSION-KEY:')
# Encrypted sample entries and the header of a key system (ISO 23001-7).
_ENCRYPTION = re.compile(b'pssh|enc[va]')


class _ProtectedError(ExtractorError):
    def __init__(self):
        super().__init__('This video is DRM protected', expected=True)


def mark_for_check(extractor, formats):
    """Marks the formats of a manifest with several qualities for a check, because a manifest may not say which
    qualities are protected. yt-dlp's extractors for single sites know that."""
    videos = [fmt for fmt in formats if fmt.get('manifest_url') and fmt.get('vcodec') != 'none' and not fmt.get('has_drm')]
    if extractor.IE_NAME in ('generic', 'html5') and len(videos) > 1:
        best = max(videos, key=lambda fmt: (fmt.get('height') or 0, fmt.get('tbr') or 0))
        extractor._downloader.best_qualities[best['manifest_url']] = best
        for fmt in formats:
            # Before 2023.07, yt-dlp would drop formats that may have DRM; it ignores this.
            fmt['__needs_testing'] = True


def works(ydl, fmt):
    """Whether the first bytes of the format arrive and it has no DRM. If the best quality of its manifest is clear,
    the others are too, and aren't checked."""
    manifest = fmt.get('manifest_url')
    best = ydl.best_qualities.pop(manifest, None)
    if best and not isinstance(_error(ydl, best, only_protection=True), _ProtectedError):
        ydl.clear_manifests.add(manifest)
    if manifest in ydl.clear_manifests:
        return True
    error = _error(ydl, fmt)
    ydl.check_error = error or ydl.check_error
    return error is None


def _error(ydl, fmt, only_protection=False):
    """Why the format doesn't work; None if it does."""
    try:
        _check(ydl, fmt, only_protection)
    except (YoutubeDLError, OSError, ValueError) as error:
        return error
    return None


def _check(ydl, fmt, only_protection):
    if not str(fmt.get('protocol') or '').startswith('m3u8'):
        _check_beginning(ydl, fmt, _beginning(fmt))
        return
    text, base = fmt.get('hls_media_playlist_data'), fmt['url']
    if not text:
        with _open(ydl, fmt, base, {}) as response:
            text = response.read(_PLAYLIST_BYTES).decode('utf-8', 'replace')
            base = getattr(response, 'url', None) or base
    if is_protected(text):
        raise _ProtectedError
    if only_protection or '#EXT-X-STREAM-INF' in text:
        return
    first = next((line.strip() for line in text.splitlines() if line.strip() and not line.startswith('#')), None)
    if first is None:
        raise ExtractorError('The playlist is empty', expected=True)
    _check_beginning(ydl, fmt, urllib.parse.urljoin(base, first))


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


def _beginning(fmt):
    """The URL of the format's initialisation, or of its file."""
    first = next(iter(fmt.get('fragments') or []), {})
    return first.get('url') or urllib.parse.urljoin(fmt.get('fragment_base_url') or fmt['url'], first.get('path') or '')


def _check_beginning(ydl, fmt, url):
    with _open(ydl, fmt, url, {'Range': f'bytes=0-{_BYTES - 1}'}) as response:
        data = response.read(_BYTES)
    if _ENCRYPTION.search(data):
        raise _ProtectedError
    if not data:
        raise ExtractorError('The format is empty', expected=True)


def _open(ydl, fmt, url, headers):
    try:
        from yt_dlp.networking import Request
    except ImportError:
        from yt_dlp.utils import sanitized_Request as Request
    return ydl.urlopen(Request(url, headers={**(fmt.get('http_headers') or {}), **headers}))
