"""Records which Representation of a DASH manifest a format comes from.

yt-dlp names formats after Representations but renames them later, and it splits the
periods of a manifest into separate formats. The parent reads all periods of the manifest
itself and needs the Representation's original id.
"""

import collections
import functools

KEY = '_dash_track'
# Hashable, because yt-dlp compares formats by all of their values.
Track = collections.namedtuple('Track', ('kind', 'id', 'is_split'))


def engage():
    """Marks the formats of every DASH manifest that yt-dlp parses from now on."""
    from yt_dlp.extractor.common import InfoExtractor
    # Before 2024, one function does everything.
    for name, mark in (('_parse_mpd_periods', _mark_periods), ('_parse_mpd_formats_and_subtitles', _mark_result)):
        if hasattr(InfoExtractor, name):
            setattr(InfoExtractor, name, _marking(getattr(InfoExtractor, name), mark))
            return


def _marking(parse, mark):
    @functools.wraps(parse)
    def parse_and_mark(self, mpd_doc, mpd_id=None, *args, **kwargs):
        is_split = sum(1 for child in mpd_doc if child.tag.rpartition('}')[2] == 'Period') > 1
        _complete(mpd_doc)
        return mark(parse(self, mpd_doc, mpd_id, *args, **kwargs), mpd_id, is_split)

    return parse_and_mark


def _complete(mpd_doc):
    """Adds attributes that yt-dlp requires but a manifest with byte ranges may omit."""
    for element in mpd_doc.iter():
        name = element.tag.rpartition('}')[2]
        if name == 'Initialization':
            element.attrib.setdefault('sourceURL', '')
        elif name == 'SegmentURL':
            element.attrib.setdefault('media', '')


def _mark_periods(periods, mpd_id, is_split):
    for period in periods:
        _mark(period['formats'], mpd_id, is_split)
        yield period


def _mark_result(result, mpd_id, is_split):
    _mark(result[0], mpd_id, is_split)
    return result


def _mark(formats, mpd_id, is_split):
    for fmt in formats:
        if not fmt.get('manifest_url'):
            continue
        # A manifest need not state codecs.
        if fmt.get('vcodec') is None and str(fmt.get('format_note')).startswith('DASH audio'):
            fmt['vcodec'] = 'none'
        prefix = f'{mpd_id}-' if mpd_id else ''
        kind = 'audio' if fmt.get('vcodec') == 'none' else 'video'
        fmt[KEY] = Track(kind, str(fmt.get('format_id') or '')[len(prefix):], is_split)
