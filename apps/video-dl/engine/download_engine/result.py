"""Turns yt-dlp's info dictionary into plain JSON with the fields that the parent uses."""

import math
import urllib.request

from yt_dlp.utils import ExtractorError

_DESCRIPTION_CHARACTERS = 20_000

_TEXT_FIELDS = (
    'id', 'title', 'fulltitle', 'uploader', 'channel', 'creator', 'artist', 'webpage_url', 'original_url',
    'extractor', 'extractor_key', 'upload_date', 'live_status', 'thumbnail', 'availability',
)
_FORMAT_TEXT_FIELDS = (
    'format_id', 'format_note', 'ext', 'protocol', 'url', 'manifest_url', 'vcodec', 'acodec', 'container',
    'language', 'dynamic_range',
)
_FORMAT_NUMBER_FIELDS = (
    'width', 'height', 'fps', 'tbr', 'vbr', 'abr', 'filesize', 'filesize_approx', 'quality', 'asr',
)
# What the relay can fetch; rtmp, mms, ism, f4m and storyboards it cannot.
_PROTOCOLS = {'http', 'https', 'm3u8', 'm3u8_native', 'http_dash_segments'}


def describe(ydl, info, targets):
    """Plain JSON of an extracted video.

    `selections` holds, per target, the indices into `formats` that yt-dlp's own
    selector chose: none, one (both streams in one) or two (video, audio).
    """
    formats = [f for f in (info.get('formats') or [info]) if _usable(f)]
    if not formats and info.get('live_status') not in ('is_live', 'is_upcoming', 'post_live'):
        raise ExtractorError('No video formats found!', expected=True, video_id=info.get('id'))
    for number, fmt in enumerate(formats):
        fmt['_index'] = number
    selections = {name: _select(ydl, info, formats, target) for name, target in targets.items()}
    chosen = {index for selection in selections.values() for index in selection}
    position = ydl.playlist_position or (None, None)
    return {
        **{key: _text(info.get(key)) for key in _TEXT_FIELDS},
        'title': _own_title(info),
        'description': (_text(info.get('description')) or '')[:_DESCRIPTION_CHARACTERS] or None,
        'duration': _number(info.get('duration')),
        'is_live': bool(info.get('is_live')),
        'direct': bool(info.get('direct')),
        'playlist_index': position[0],
        'playlist_count': position[1],
        'formats': [_format(ydl, info, fmt, fmt['_index'] in chosen) for fmt in formats],
        'selections': selections,
    }


def _usable(fmt):
    return (fmt.get('url') and not fmt.get('has_drm')
            and all(part in _PROTOCOLS for part in (fmt.get('protocol') or 'http').split('+')))


def _select(ydl, info, formats, target):
    ydl.params['format_sort'] = target['sort']
    candidates = {**info, 'formats': list(formats)}
    ydl.sort_formats(candidates)
    candidates = candidates['formats']
    selector = ydl.build_format_selector(target['format'])
    chosen = list(selector({
        'formats': candidates,
        'has_merged_format': any('none' not in (f.get('acodec'), f.get('vcodec')) for f in candidates),
        'incomplete_formats': (all(f.get('vcodec') == 'none' for f in candidates)
                               or all(f.get('acodec') == 'none' for f in candidates)),
    }))
    if not chosen:
        return []
    return [part['_index'] for part in chosen[-1].get('requested_formats') or [chosen[-1]]]


def _format(ydl, info, fmt, with_fragments):
    fragments = _fragments(fmt) if with_fragments else None
    options = fmt.get('downloader_options') or {}
    return {
        **{key: _text(fmt.get(key)) for key in _FORMAT_TEXT_FIELDS},
        **{key: _number(fmt.get(key)) for key in _FORMAT_NUMBER_FIELDS},
        'http_headers': _headers(fmt, info),
        'cookies': _text(fmt.get('cookies')) or _cookies(ydl, fmt['url']),
        'http_chunk_size': _number(options.get('http_chunk_size')),
        'fragments': fragments,
        'fragments_duration': _fragments_duration(fmt),
    }


def _fragments(fmt):
    fragments = fmt.get('fragments')
    if not fragments:
        return None
    if callable(fragments):
        # Only broadcasts from their start, which are refused, list their parts lazily.
        return None
    base = fmt.get('fragment_base_url') or ''
    return [{'url': part.get('url') or base + part['path']} for part in fragments]


def _fragments_duration(fmt):
    """Seconds; a DASH manifest's length reaches yt-dlp's info only piece by piece."""
    fragments = fmt.get('fragments')
    if not isinstance(fragments, (list, tuple)):
        return None
    durations = [_number(part.get('duration')) for part in fragments]
    known = [duration for duration in durations if duration]
    # The initialisation segment has none; any other piece without one makes the sum worthless.
    return sum(known) if known and len(known) >= len(durations) - 1 else None


def _headers(fmt, info):
    headers = fmt.get('http_headers') or info.get('http_headers') or {}
    return {str(name): str(value) for name, value in headers.items()
            if value is not None and str(name).lower() not in ('cookie', 'accept-encoding', 'host')}


def _cookies(ydl, url):
    """The Cookie header that belongs to this address; from 2023.07 on a format has its own,
    with the domains that its segments may be on."""
    request = urllib.request.Request(url)
    ydl.cookiejar.add_cookie_header(request)
    return request.get_header('Cookie')


def _own_title(info):
    """The page's own title: for a <video> element yt-dlp numbers both id and title."""
    title = _text(info.get('title'))
    if (title and title.endswith(' (1)') and str(info.get('id', '')).endswith('-1')
            and str(info.get('extractor', '')).lower() in ('generic', 'html5')):
        return title[:-len(' (1)')]
    return title


def _text(value):
    if value is None or isinstance(value, (dict, list, tuple, set)):
        return None
    # A lone surrogate from a broken page has no UTF-8 form.
    return str(value).encode('utf-8', 'replace').decode('utf-8')


def _number(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return value
