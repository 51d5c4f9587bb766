"""Records which Representation of a DASH manifest a format comes from, and which tracks players play.

yt-dlp names formats after Representations but renames them later, and it splits the
periods of a manifest into separate formats. The parent reads all periods of the manifest
itself and needs the Representation's original id. yt-dlp ignores the roles of tracks, so it
could take a commentary for the main audio.
"""

import collections
import functools

from yt_dlp.extractor.common import InfoExtractor

from . import format_check, languages

KEY = '_dash_track'
# Hashable, because yt-dlp compares formats by all of their values.
Track = collections.namedtuple('Track', ('kind', 'id', 'is_split'))

# ISO 23009-1, 5.8.5.5.
_ROLE_SCHEME = 'urn:mpeg:dash:role:2011'
_ROLES_NOT_PLAYED = {'commentary', 'description', 'supplementary', 'sign', 'karaoke', 'emergency',
                     'enhanced-audio-intelligibility'}
_AUDIO_ROLES_NOT_PLAYED = _ROLES_NOT_PLAYED | {'alternate', 'dub'}
_PURPOSE_SCHEME = 'urn:tva:metadata:cs:AudioPurposeCS:2007'
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
        mark = functools.partial(_mark, f'{mpd_id}-' if mpd_id else '', len(_named(mpd_doc, 'Period')) > 1,
                                 preferences(mpd_doc), _descriptions(mpd_doc))
        _complete(mpd_doc)
        found = parse(self, mpd_doc, mpd_id, *args, **kwargs)
        if isinstance(found, tuple):
            parsed = found[:1]
        else:
            found = list(found)
            parsed = [period['formats'] for period in found]
        for formats in parsed:
            mark(formats)
            format_check.mark_for_check(self, formats)
        return found

    setattr(InfoExtractor, name, parse_and_mark)


def _named(element, name):
    return [child for child in element if child.tag.rpartition('}')[2] == name]


def preferences(mpd_doc):
    """The `language_preference` of Representations, by id, that players don't play unless their user asks for them."""
    found = {}
    for period in _named(mpd_doc, 'Period'):
        sets = _named(period, 'AdaptationSet')
        language = _main_language([each for each in sets if _is_audio(each) and not _is_not_played(each)])
        for adaptation_set in sets:
            preference = _preference(adaptation_set, language)
            if preference is not None:
                found.update((each.get('id'), preference) for each in _named(adaptation_set, 'Representation'))
    return found


def _preference(adaptation_set, language):
    if _is_not_played(adaptation_set):
        return _NOT_PLAYED
    is_other = language is not None and _is_audio(adaptation_set) and adaptation_set.get('lang') != language
    return _OTHER_LANGUAGE if is_other else None


def _main_language(audio_sets):
    """That of the first track with the role "main", otherwise of the first track."""
    first = sorted(audio_sets, key=lambda each: 'main' not in _roles(each))[:1]
    return next((each.get('lang') for each in first), None)


def _is_audio(adaptation_set):
    elements = (adaptation_set, *_named(adaptation_set, 'Representation'))
    kinds = [element.get('contentType') or element.get('mimeType') for element in elements]
    return str(next(filter(None, kinds), '')).startswith('audio')


def _roles(adaptation_set):
    roles = _named(adaptation_set, 'Role')
    return {role.get('value') for role in roles if role.get('schemeIdUri') == _ROLE_SCHEME}


def _descriptions(mpd_doc):
    """Ids of the Representations that describe the video."""
    sets = [each for period in _named(mpd_doc, 'Period') for each in _named(period, 'AdaptationSet')]
    return {each.get('id') for adaptation_set in sets for each in _named(adaptation_set, 'Representation')
            if 'description' in _roles(adaptation_set) or '1' in _purposes(adaptation_set)}


def _purposes(adaptation_set):
    elements = _named(adaptation_set, 'Accessibility')
    return {each.get('value') for each in elements if each.get('schemeIdUri') == _PURPOSE_SCHEME}


def _is_not_played(adaptation_set):
    not_played = _AUDIO_ROLES_NOT_PLAYED if _is_audio(adaptation_set) else _ROLES_NOT_PLAYED
    roles = _roles(adaptation_set)
    return bool(_purposes(adaptation_set)) or bool(roles & not_played and 'main' not in roles)


def _complete(mpd_doc):
    """Adds attributes that yt-dlp requires but a manifest with byte ranges may omit."""
    for element in mpd_doc.iter():
        name = element.tag.rpartition('}')[2]
        if name == 'Initialization':
            element.attrib.setdefault('sourceURL', '')
        elif name == 'SegmentURL':
            element.attrib.setdefault('media', '')


def _mark(prefix, is_split, preferences_by_id, descriptions, formats):
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
