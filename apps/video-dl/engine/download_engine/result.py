"""Turns yt-dlp's info dictionary into plain JSON with the fields that the parent uses."""

import math
import urllib.request

from yt_dlp.utils import ExtractorError

from . import limits

_TEXT_FIELDS = (
    'id', 'title', 'uploader', 'channel', 'creator', 'artist', 'extractor', 'upload_date', 'live_status',
)
_URL_FIELDS = ('webpage_url', 'thumbnail')
_FORMAT_TEXT_FIELDS = ('format_id', 'format_note', 'ext', 'protocol', 'vcodec', 'acodec')
_FORMAT_NUMBER_FIELDS = (
    'width', 'height', 'fps', 'tbr', 'vbr', 'abr', 'filesize', 'filesize_approx', 'available_at',
)
# What the relay can fetch; rtmp, mms, ism, f4m and storyboards it cannot.
_PROTOCOLS = {'http', 'https', 'm3u8', 'm3u8_native', 'http_dash_segments'}


def describe(ydl, info, targets):
    """Plain JSON of an extracted video, of a bounded size.

    `selections` holds, per target, the indices into `formats` that yt-dlp's own
    selector chose: none, one (both streams in one) or two (video, audio).
    """
    # yt-dlp puts the best last.
    formats = [f for f in (info.get('formats') or [info]) if _usable(f)][-limits.FORMATS:]
    if not formats and info.get('live_status') not in ('is_live', 'is_upcoming', 'post_live'):
        raise ExtractorError('No video formats found!', expected=True, video_id=info.get('id'))
    for number, fmt in enumerate(formats):
        fmt['_index'] = number
    selections = {name: _select(ydl, info, formats, target) for name, target in targets.items()}
    chosen = {index for selection in selections.values() for index in selection}
    position = ydl.playlist_position or (None, None)
    answer = {
        **{key: _text(info.get(key)) for key in _TEXT_FIELDS},
        **{key: _url(info.get(key)) for key in _URL_FIELDS},
        'title': _own_title(info),
        'description': _text(info.get('description'), limits.DESCRIPTION_CHARACTERS) or None,
        'duration': _number(info.get('duration')),
        'is_live': bool(info.get('is_live')),
        'playlist_index': position[0],
        'playlist_count': position[1],
        'formats': [_format(ydl, info, fmt, fmt['_index'] in chosen) for fmt in formats],
        'selections': selections,
    }
    if _characters(answer) > limits.ANSWER_CHARACTERS:
        raise limits.AnswerTooLargeError
    return answer


def _usable(fmt):
    return (isinstance(fmt.get('url'), str) and 0 < len(fmt['url']) <= limits.URL_CHARACTERS
            and not fmt.get('has_drm')
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
    options = fmt.get('downloader_options') or {}
    return {
        **{key: _text(fmt.get(key)) for key in _FORMAT_TEXT_FIELDS},
        **{key: _number(fmt.get(key)) for key in _FORMAT_NUMBER_FIELDS},
        'url': _text(fmt['url'], limits.URL_CHARACTERS),
        'http_headers': _headers(fmt, info),
        'cookies': _cookies(ydl, fmt),
        'http_chunk_size': _number(options.get('http_chunk_size')),
        'fragments': _fragments(fmt) if with_fragments else None,
        'fragments_duration': _fragments_duration(fmt),
    }


def _fragments(fmt):
    fragments = fmt.get('fragments')
    if not fragments:
        return None
    if callable(fragments):
        # Only broadcasts from their start, which are refused, list their parts lazily.
        return None
    if len(fragments) > limits.FRAGMENTS:
        raise limits.AnswerTooLargeError
    base = fmt.get('fragment_base_url') or ''
    urls = [part.get('url') or base + part['path'] for part in fragments]
    if any(len(url) > limits.URL_CHARACTERS for url in urls):
        raise limits.AnswerTooLargeError
    return [{'url': _text(url, limits.URL_CHARACTERS)} for url in urls]


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
    kept = [(str(name), str(value)) for name, value in headers.items()
            if value is not None and str(name).lower() not in ('cookie', 'accept-encoding', 'host')]
    return {name: value for name, value in kept[:limits.HEADERS]
            if len(name) <= limits.TEXT_CHARACTERS and len(value) <= limits.HEADER_CHARACTERS}


def _cookies(ydl, fmt):
    """The Cookie header that belongs to the format's address; from 2023.07 on a format has its
    own, with the domains that its segments may be on. None where they are too many to be sent."""
    cookies = _whole_text(fmt.get('cookies'))
    if not cookies:
        request = urllib.request.Request(fmt['url'])
        ydl.cookiejar.add_cookie_header(request)
        cookies = request.get_header('Cookie')
    return cookies if cookies and len(cookies) <= limits.COOKIE_CHARACTERS else None


def _own_title(info):
    """The page's own title: for a <video> element yt-dlp numbers both id and title."""
    title = _text(info.get('title'))
    if (title and title.endswith(' (1)') and str(info.get('id', '')).endswith('-1')
            and str(info.get('extractor', '')).lower() in ('generic', 'html5')):
        return title[:-len(' (1)')]
    return title


def _text(value, most=limits.TEXT_CHARACTERS):
    text = _whole_text(value)
    return None if text is None else text[:most]


def _url(value):
    """Half an address leads elsewhere: one that is too long is none."""
    text = _whole_text(value)
    return text if text and len(text) <= limits.URL_CHARACTERS else None


def _whole_text(value):
    if value is None or isinstance(value, (dict, list, tuple, set)):
        return None
    # A lone surrogate from a broken page has no UTF-8 form.
    return str(value).encode('utf-8', 'replace').decode('utf-8')


def _number(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return value


def _characters(value):
    """Of all texts in a plain JSON value."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(len(key) + _characters(item) for key, item in value.items())
    return sum(map(_characters, value)) if isinstance(value, list) else 0
