"""Converts yt-dlp's info dictionary to plain JSON with the fields that the parent uses."""

import json
import math
import re
import urllib.parse

from yt_dlp.utils import ExtractorError

from . import dash_tracks, languages, limits, subtitles

_TEXT_FIELDS = ('id', 'extractor', 'upload_date')
_NUMBER_FIELDS = ('duration', 'section_start', 'section_end', 'start_time')
# The first that is stated.
_UPLOADER_FIELDS = ('uploader', 'channel', 'creator', 'artist')
_URL_FIELDS = ('webpage_url', 'thumbnail')
_FORMAT_TEXT_FIELDS = ('format_id', 'format_note', 'ext', 'protocol', 'vcodec', 'acodec', 'dynamic_range')
_FORMAT_NUMBER_FIELDS = (
    'width', 'height', 'fps', 'tbr', 'vbr', 'abr', 'filesize', 'filesize_approx', 'available_at',
)
_QUERY_FIELDS = ('extra_param_to_segment_url', 'extra_param_to_key_url')
# Images instead of a video.
_IMAGE_EXTENSIONS = {'avif', 'bmp', 'heic', 'jpeg', 'jpg', 'png', 'svg', 'tif', 'tiff', 'webp'}
# Images that many players don't show as covers, by the end of their URL's path.
_OTHER_IMAGE = re.compile(r'(?i)\.(?:avif|bmp|gif|heic|svg|tiff?|webp)$')
# The protocols that the relay supports. It doesn't support rtmp, mms, ism, f4m or storyboards.
_PROTOCOLS = {'http', 'https', 'm3u8', 'm3u8_native', 'http_dash_segments'}


def describe(ydl, info, targets):
    """Plain JSON of an extracted video, limited in size.

    `selections` has, per target, the indices into `formats` that yt-dlp's own selector
    chose: none, one (a muxed format) or two (video, audio).
    """
    # yt-dlp lists the best last.
    formats = _one_per_track(f for f in (info.get('formats') or [info]) if _usable(f, ydl.images))[-limits.FORMATS:]
    ranked = {name: _ranked(ydl, info, formats, target) for name, target in targets.items()}
    selections = {name: _select(ydl, ranked[name], target) for name, target in targets.items()}
    # The selection has checked doubtful formats.
    formats = [f for f in formats if f.get('__working') is not False]
    spoken = _by_language(ydl, formats, ranked, targets)
    if not formats:
        raise ydl.check_error or ExtractorError('No video formats found!', expected=True, video_id=info.get('id'))
    chosen = {id(fmt) for each in (selections, *spoken.values()) for selection in each.values() for fmt in selection}
    index_of = {id(fmt): index for index, fmt in enumerate(formats)}

    def as_indices(selections):
        return {name: [index_of[id(fmt)] for fmt in selection] for name, selection in selections.items()}

    original = next((languages.of(fmt) for fmt in reversed(selections.get('mp3', []))), None)
    result = {
        **{key: _text(info.get(key)) for key in _TEXT_FIELDS},
        **{key: _url(info.get(key)) for key in _URL_FIELDS},
        'title': _own_title(info),
        'uploader': next(filter(None, (_text(info.get(key)) for key in _UPLOADER_FIELDS)), None),
        'covers': _covers(info),
        'description': _text(info.get('description'), limits.DESCRIPTION_CHARACTERS) or None,
        **{key: _number(info.get(key)) for key in _NUMBER_FIELDS},
        'chapters': _chapters(info),
        'subtitles': [_subtitles(ydl, info, *track) for track in subtitles.listed(info)],
        'playlist_index': ydl.playlist_index,
        'playlist_count': ydl.playlist_count,
        'items': [_item(entry) for entry in ydl.items[:limits.ITEMS]],
        'formats': [_format(ydl, info, fmt, id(fmt) in chosen) for fmt in formats],
        'selections': as_indices(selections),
        'languages': [{'language': _text(language), 'is_original': language == original,
                       'selections': as_indices(selected)} for language, selected in spoken.items()],
    }
    if len(json.dumps(result, ensure_ascii=False)) > limits.RESULT_CHARACTERS:
        raise limits.ResultTooLargeError
    return result


def _item(entry):
    # An unprocessed entry has a list of thumbnails, with the best last, but no chosen one.
    best = next((image.get('url') for image in reversed(_listed(entry, 'thumbnails'))), None)
    return {'title': _text(entry.get('title')), 'duration': _number(entry.get('duration')),
            'thumbnail': _url(entry.get('thumbnail') or best)}


def _subtitles(ydl, info, language, is_automatic, version):
    return {'language': _text(language), 'name': _text(version.get('name')), 'is_automatic': is_automatic,
            'format': subtitles.format_of(version), 'is_playlist': subtitles.is_playlist(version),
            'url': _url(version['url']), 'http_headers': _headers(version, info), 'cookies': _cookies(ydl, version)}


def _chapters(info):
    return [{'title': _text(each.get('title')), 'start': _number(each.get('start_time')),
             'end': _number(each.get('end_time'))} for each in _listed(info, 'chapters')[:limits.CHAPTERS]]


def _covers(info):
    """URLs of the best images for a cover, best first: JPEG or PNG, which every player shows. If the page
    has no such image, its thumbnail, whatever its format."""
    urls = [_url(image.get('url')) for image in reversed(_listed(info, 'thumbnails'))]
    shown = [url for url in urls if url and not _OTHER_IMAGE.search(urllib.parse.urlsplit(url).path)]
    return shown[:limits.COVERS] or [url for url in (_url(info.get('thumbnail')),) if url]


def _listed(info, field):
    """The dictionaries in a list of an extractor, which may be anything."""
    values = info.get(field)
    return [each for each in values if isinstance(each, dict)] if isinstance(values, list) else []


def _usable(fmt, images=()):
    return (isinstance(fmt.get('url'), str) and 0 < len(fmt['url']) <= limits.URL_CHARACTERS
            and fmt['url'] not in images
            and fmt.get('has_drm') in (None, False, 'maybe')
            and str(fmt.get('ext')).lower() not in _IMAGE_EXTENSIONS
            and (not fmt.get('fragments') or bool(_manifest_track(fmt)) or _are_readable(_parts(fmt)))
            and all(part in _PROTOCOLS for part in (fmt.get('protocol') or 'http').split('+')))


def _one_per_track(formats):
    """Keeps each track of a manifest with several periods once instead of once per period."""
    kept = {}
    for number, fmt in enumerate(formats):
        track = _manifest_track(fmt)
        kept[(fmt['manifest_url'], track.kind, track.id) if track else number] = fmt
    return list(kept.values())


def _manifest_track(fmt):
    """The track of a DASH manifest that the parent reads itself; None for all other formats."""
    track = fmt.get(dash_tracks.KEY)
    is_read = track and (track.is_split or fmt.get('protocol') == 'http_dash_segments')
    return track if is_read and len(fmt['manifest_url']) <= limits.URL_CHARACTERS else None


def _ranked(ydl, info, formats, target):
    """The formats in yt-dlp's order for a target, the best last."""
    ydl.params['format_sort'] = target['sort']
    candidates = {**info, 'formats': list(formats)}
    if formats:
        ydl.sort_formats(candidates)
    return candidates['formats']


def _select(ydl, candidates, target):
    """Those of the ranked formats that yt-dlp's selector chooses for a target."""
    if not candidates:
        return []
    for number, fmt in enumerate(candidates):
        # The selector copies formats, so number them to find the originals.
        fmt['_number'] = number
    selector = ydl.build_format_selector(target['format'])
    chosen = list(selector({
        'formats': candidates,
        'has_merged_format': any('none' not in (f.get('acodec'), f.get('vcodec')) for f in candidates),
        'incomplete_formats': (all(f.get('vcodec') == 'none' for f in candidates)
                               or all(f.get('acodec') == 'none' for f in candidates)),
    }))
    if not chosen:
        return []
    return [candidates[part['_number']] for part in chosen[-1].get('requested_formats') or [chosen[-1]]]


def _by_language(ydl, formats, ranked, targets):
    """The selections of each language that the page states."""
    for fmt in formats:
        # Clients that request no language don't pay for checks of other languages.
        fmt.setdefault('__working', True)
    spoken = list(dict.fromkeys(filter(None, map(languages.of, formats))))[:limits.LANGUAGES]
    return {language: {name: _select(ydl, languages.only(language, [f for f in ranked[name] if f['__working']]), target)
                       for name, target in targets.items()}
            for language in spoken}


def _format(ydl, info, fmt, is_chosen):
    options = fmt.get('downloader_options') or {}
    track = _manifest_track(fmt)
    return {
        **{key: _text(fmt.get(key)) for key in _FORMAT_TEXT_FIELDS},
        'protocol': 'm3u8_native' if _parts(fmt) else _text(fmt.get('protocol')),
        **{key: _number(fmt.get(key)) for key in _FORMAT_NUMBER_FIELDS},
        **{key: _text(fmt.get(key), limits.URL_CHARACTERS) for key in _QUERY_FIELDS},
        'url': _text(fmt['manifest_url'] if track else fmt['url'], limits.URL_CHARACTERS),
        'dash_track': {'kind': track.kind, 'id': _text(track.id)} if track else None,
        'http_headers': _headers(fmt, info),
        'cookies': _cookies(ydl, fmt),
        'http_chunk_size': _number(options.get('http_chunk_size')),
        'hls_aes': _aes(fmt.get('hls_aes')),
        'hls_media_playlist_data': _playlist(fmt) if is_chosen else None,
    }


def _aes(value):
    """The extractor's overrides for the key of an HLS stream."""
    if not isinstance(value, dict):
        return None
    aes = {key: _text(value.get(key), limits.URL_CHARACTERS) for key in ('uri', 'key', 'iv')}
    return aes if any(aes.values()) else None


def _playlist(fmt):
    """The playlist in the page, or one built from the fragments that the extractor lists."""
    parts = _parts(fmt)
    text = _as_playlist(parts) if parts else _text(fmt.get('hls_media_playlist_data'), None)
    if text is not None and len(text) > limits.PLAYLIST_CHARACTERS:
        raise limits.ResultTooLargeError
    return text or None


def _parts(fmt):
    """(URL, seconds) of the fragments of a format without a manifest; empty for all other formats."""
    fragments = fmt.get('fragments')
    if not isinstance(fragments, (list, tuple)) or not fragments or _manifest_track(fmt):
        return []
    base = fmt.get('fragment_base_url') or ''
    return [(part.get('url') or urllib.parse.urljoin(base, part['path']), _number(part.get('duration')))
            for part in fragments[:limits.FRAGMENTS + 1]]


def _as_playlist(parts):
    """An HLS playlist. The first DASH fragment is the initialisation, the only one without a duration."""
    has_initialisation = parts[0][1] is None and len(parts) > 1
    lines = ['#EXTM3U', '#EXT-X-PLAYLIST-TYPE:VOD']
    if has_initialisation:
        lines.append(f'#EXT-X-MAP:URI="{parts[0][0]}"')
    for url, seconds in parts[has_initialisation:]:
        lines += [f'#EXTINF:{seconds:.6f},', url]
    return '\n'.join([*lines, '#EXT-X-ENDLIST', ''])


def _are_readable(parts):
    """Whether the fragments can be listed in a playlist: all durations are known, and no URL contains a
    line break or a quote."""
    return (0 < len(parts) <= limits.FRAGMENTS
            and all(seconds for _, seconds in parts[1:]) and (len(parts) > 1 or parts[0][1])
            and all(re.fullmatch(r'https?://[^\s"]+', url) and len(url) <= limits.URL_CHARACTERS for url, _ in parts))


def _headers(fmt, info):
    headers = fmt.get('http_headers') or info.get('http_headers') or {}
    kept = [(str(name), str(value)) for name, value in headers.items()
            if value is not None and str(name).lower() not in ('cookie', 'accept-encoding', 'host')]
    return {name: value for name, value in kept[:limits.HEADERS]
            if len(name) <= limits.TEXT_CHARACTERS and len(value) <= limits.HEADER_CHARACTERS}


def _cookies(ydl, fmt):
    """The cookies for the host of the format's URL, each with its scope, which the parent checks for each request."""
    host = urllib.parse.urlsplit(fmt['url']).hostname or ''
    found = [cookie for cookie in ydl.cookiejar if _is_for(cookie.domain, host)]
    cookies = [{**{key: _text(getattr(cookie, key), None) or '' for key in ('name', 'value', 'domain', 'path')},
                'secure': bool(cookie.secure)} for cookie in found if not cookie.is_expired()]
    return [cookie for cookie in cookies[:limits.COOKIES]
            if all(len(str(field)) <= limits.COOKIE_CHARACTERS for field in cookie.values())]


def _is_for(domain, host):
    return domain == host or (domain.startswith('.') and f'.{host}'.endswith(domain))


def _own_title(info):
    """The page's own title. For a <video> element, yt-dlp adds a number to both id and title."""
    title = _text(info.get('title'))
    if (title and title.endswith(' (1)') and str(info.get('id', '')).endswith('-1')
            and str(info.get('extractor', '')).lower() in ('generic', 'html5')):
        return title[:-len(' (1)')]
    return title


def _text(value, max_characters=limits.TEXT_CHARACTERS):
    if value is None or isinstance(value, (dict, list, tuple, set)):
        return None
    # Lone surrogates from a broken page can't be encoded as UTF-8.
    return str(value).encode('utf-8', 'replace').decode('utf-8')[:max_characters]


def _url(value):
    return _whole(value, limits.URL_CHARACTERS)


def _whole(value, max_characters):
    """None for a text that is too long, because a truncated one would mean something else."""
    text = _text(value, None)
    return text if text and len(text) <= max_characters else None


def _number(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return value
