"""Records which Representation of a DASH manifest a format comes from, and which tracks players play.

yt-dlp names formats after Representations but renames them later, and it splits the
periods of a manifest into separate formats. The parent reads all periods of the manifest
itself and needs the Representation's original id. yt-dlp ignores the roles of tracks, so it
could take a commentary for the main audio.
"""

import collections
import functools
import itertools

from yt_dlp.extractor.common import InfoExtractor

from . import format_check, languages

KEY = '_dash_track'
# Hashable, because yt-dlp compares formats by all of their values.
Track = collections.namedtuple('Track', ('kind', 'id', 'is_split'))

# ISO 23009-1, 5.8.5.5.
_ROLE = '{*}Role[@schemeIdUri="urn:mpeg:dash:role:2011"]'
_ROLES_NOT_PLAYED = {'commentary', 'description', 'supplementary', 'sign', 'karaoke', 'emergency',
                     'enhanced-audio-intelligibility'}
_AUDIO_ROLES_NOT_PLAYED = _ROLES_NOT_PLAYED | {'alternate', 'dub'}
_PURPOSE = '{*}Accessibility[@schemeIdUri="urn:tva:metadata:cs:AudioPurposeCS:2007"]'
# yt-dlp's `language_preference` is -1 if nothing is known.
_OTHER_LANGUAGE = -2
_NOT_PLAYED = -10


def engage():
    """Marks the formats of every DASH manifest that yt-dlp parses from now on."""
    # Before 2024, one function does everything.
    name = next(name for name in ('_parse_mpd_periods', '_parse_mpd_formats_and_subtitles') if hasattr(InfoExtractor, name))
    parse = getattr(InfoExtractor, name)

    @functools.wraps(parse)
    def parse_and_mark(self, mpd_doc, mpd_id=None, *args, **kwargs):
        _complete(mpd_doc)
        found = parse(self, mpd_doc, mpd_id, *args, **kwargs)
        if isinstance(found, tuple):
            parsed = found[:1]
        else:
            found = list(found)
            parsed = [period['formats'] for period in found]
        _mark(itertools.chain(*parsed), mpd_doc, f'{mpd_id}-' if mpd_id else '')
        for formats in parsed:
            format_check.mark_for_check(self, formats)
        return found

    setattr(InfoExtractor, name, parse_and_mark)


def _complete(mpd_doc):
    """Adds attributes that yt-dlp requires but a manifest with byte ranges may omit."""
    for name, attribute in (('Initialization', 'sourceURL'), ('SegmentURL', 'media')):
        for element in mpd_doc.iterfind(f'.//{{*}}{name}'):
            element.attrib.setdefault(attribute, '')


def preferences(mpd_doc):
    """The `language_preference` of Representations, by id, that players don't play unless their user asks for them."""
    found = {}
    for period in mpd_doc.iterfind('{*}Period'):
        sets = period.findall('{*}AdaptationSet')
        language = _main_language([each for each in sets if _is_audio(each) and not _is_not_played(each)])
        for adaptation_set in sets:
            if _is_not_played(adaptation_set):
                preference = _NOT_PLAYED
            elif language is not None and _is_audio(adaptation_set) and adaptation_set.get('lang') != language:
                preference = _OTHER_LANGUAGE
            else:
                continue
            found.update(dict.fromkeys(_representations(adaptation_set), preference))
    return found


def _main_language(audio_sets):
    """That of the first track with the role "main", otherwise of the first track."""
    first = min(audio_sets, key=lambda each: 'main' not in _values(each, _ROLE), default=None)
    return first.get('lang') if first is not None else None


def _is_audio(adaptation_set):
    elements = (adaptation_set, *adaptation_set.iterfind('{*}Representation'))
    kinds = [element.get('contentType') or element.get('mimeType') for element in elements]
    return str(next(filter(None, kinds), '')).startswith('audio')


def _is_not_played(adaptation_set):
    not_played = _AUDIO_ROLES_NOT_PLAYED if _is_audio(adaptation_set) else _ROLES_NOT_PLAYED
    roles = _values(adaptation_set, _ROLE)
    return bool(_values(adaptation_set, _PURPOSE)) or bool(roles & not_played and 'main' not in roles)


def _describes_video(adaptation_set):
    return 'description' in _values(adaptation_set, _ROLE) or '1' in _values(adaptation_set, _PURPOSE)


def _values(adaptation_set, path):
    return {each.get('value') for each in adaptation_set.iterfind(path)}


def _representations(adaptation_set):
    return [each.get('id') for each in adaptation_set.iterfind('{*}Representation')]


def _mark(formats, mpd_doc, prefix):
    is_split = len(mpd_doc.findall('{*}Period')) > 1
    preferences_by_id = preferences(mpd_doc)
    descriptions = {each for adaptation_set in mpd_doc.iterfind('{*}Period/{*}AdaptationSet')
                    if _describes_video(adaptation_set) for each in _representations(adaptation_set)}
    for fmt in formats:
        if not fmt.get('manifest_url'):
            continue
        # A manifest need not state codecs.
        if fmt.get('vcodec') is None and str(fmt.get('format_note')).startswith('DASH audio'):
            fmt['vcodec'] = 'none'
        kind = 'audio' if fmt.get('vcodec') == 'none' else 'video'
        representation = str(fmt.get('format_id') or '')[len(prefix):]
        fmt[KEY] = Track(kind, representation, is_split)
        if representation in preferences_by_id:
            fmt.setdefault('language_preference', preferences_by_id[representation])
        fmt[languages.DESCRIBES] = representation in descriptions
