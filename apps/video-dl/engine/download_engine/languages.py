"""The languages of a page's audio."""

# Ends the language of an audio description, in yt-dlp's YouTube formats and in ours.
_DESCRIPTION = '-desc'
# Set on formats whose manifest says so.
DESCRIBES = '_describes_video'


def of(fmt):
    """The language of a format's audio: `de`, or `de-desc` if it describes the video. None if none is stated."""
    language = fmt.get('language')
    if fmt.get('acodec') == 'none' or not isinstance(language, str) or not language.strip():
        return None
    language = language.strip()
    return language.removesuffix(_DESCRIPTION) + _DESCRIPTION if fmt.get(DESCRIBES) else language


def only(language, formats):
    """The formats with audio in the language, and those without audio."""
    return [fmt for fmt in formats if fmt.get('acodec') == 'none' or of(fmt) == language]
