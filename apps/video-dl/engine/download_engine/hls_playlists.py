"""Lets yt-dlp choose the audio that players play, report a playlist's exact length, and accept a byte order mark."""

import collections
import functools
import re

from yt_dlp.extractor.common import InfoExtractor
from yt_dlp.utils import parse_m3u8_attributes

from . import format_check, languages

_MARK = b'\xef\xbb\xbf'


def engage():
    parse = InfoExtractor._parse_m3u8_formats_and_subtitles

    @functools.wraps(parse)
    def parse_and_mark(self, m3u8_doc, *args, **kwargs):
        found = parse(self, with_defaults(m3u8_doc), *args, **kwargs)
        _mark_descriptions(found[0], m3u8_doc)
        # The keys in a master playlist may be those of some variants only, so those that are chosen are checked.
        if format_check.is_protected(m3u8_doc):
            for fmt in found[0]:
                fmt['has_drm'] = 'maybe'
        else:
            format_check.mark_for_check(self, found[0])
        return found

    InfoExtractor._parse_m3u8_formats_and_subtitles = parse_and_mark
    rounded_duration = InfoExtractor._parse_m3u8_vod_duration

    @functools.wraps(rounded_duration)
    def exact_duration(self, m3u8_vod, *args, **kwargs):
        return rounded_duration(self, m3u8_vod, *args, **kwargs) and duration(m3u8_vod)

    InfoExtractor._parse_m3u8_vod_duration = exact_duration


def duration(text):
    """The sum of the segments' durations, which yt-dlp rounds down to whole seconds."""
    return sum(float(seconds) for seconds in re.findall(r'^#EXTINF:([\d.]+)', text, re.MULTILINE))


def with_defaults(text):
    """States one default for each group of audio, which yt-dlp prefers to others that are stated not to be one.

    If the default is in the variants themselves, the others are left out: yt-dlp would prefer any separate audio.
    """
    if '#EXT-X-MEDIA:' not in text:
        return text
    lines = text.splitlines()
    groups = collections.defaultdict(list)
    for index, attributes in _renditions(lines):
        if attributes.get('TYPE') == 'AUDIO':
            groups[attributes.get('GROUP-ID')].append((index, attributes))
    for group in groups.values():
        default, default_attributes = min(group, key=lambda each: _rank(each[1]))
        lines[default] += ',DEFAULT=YES'
        for index in (index for index, _ in group if index != default):
            lines[index] = lines[index] + ',DEFAULT=NO' if 'URI' in default_attributes else ''
    return '\n'.join(lines)


def _renditions(lines):
    """(index, attributes) of each line that states a rendition."""
    return [(index, parse_m3u8_attributes(line)) for index, line in enumerate(lines) if line.startswith('#EXT-X-MEDIA:')]


def _mark_descriptions(formats, text):
    if 'describes-video' not in text:
        return
    names = {(each.get('LANGUAGE'), each.get('NAME')) for _, each in _renditions(text.splitlines()) if _describes_video(each)}
    for fmt in formats:
        fmt[languages.DESCRIBES] = (fmt.get('language'), fmt.get('format_note')) in names


def _describes_video(attributes):
    return 'describes-video' in attributes.get('CHARACTERISTICS', '')


def _rank(attributes):
    """The lowest is played: one that is stated as the default, before all others one that doesn't describe the video."""
    return attributes.get('DEFAULT') != 'YES', _describes_video(attributes)


def skip_byte_order_mark(response):
    """Skips the mark before a playlist, where yt-dlp expects the playlist's first tag."""
    read = response.read

    def read_after_mark(*args, **kwargs):
        response.read = read
        data = read(*args, **kwargs)
        return data[len(_MARK):] if data.startswith(_MARK + b'#EXTM3U') else data

    response.read = read_after_mark
