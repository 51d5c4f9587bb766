"""Builds one YoutubeDL per job: nothing a page left behind reaches the next one."""

import collections
import functools
import http.cookiejar
import io

import yt_dlp
from yt_dlp.extractor import gen_extractor_classes
from yt_dlp.extractor.common import InfoExtractor
from yt_dlp.utils import ExtractorError, YoutubeDLError

from . import format_check, limits, pristine
from .environment import javascript_runtime
from .player_cache import PlayerCache

# A page that embeds more broken players than this has nothing for us.
_ENTRIES_TRIED = 5


class PlaylistError(ExtractorError):
    """The URL leads to a playlist or a channel, not to one video."""

    def __init__(self, title):
        super().__init__(f'This is a playlist: {title}', expected=True)


class NoSuchItemError(ExtractorError):
    """The job asks for a later video than the page has."""

    def __init__(self, count):
        super().__init__(f'The page has {count} videos', expected=True)
        self.count = count


class NotStartedError(ExtractorError):
    """A broadcast that has no formats because it has not started."""


class UnfinishedBroadcastError(ExtractorError):
    """A broadcast that has no formats because it is running or not yet processed."""


class Log:
    """Keeps the warnings that yt-dlp would print: they explain an error."""

    def __init__(self):
        self.warnings = collections.deque(maxlen=limits.WARNINGS)

    def kept(self):
        """The last warnings, each bounded."""
        return [warning[:limits.TEXT_CHARACTERS] for warning in self.warnings]

    def debug(self, _message):
        pass

    def info(self, _message):
        pass

    def warning(self, message, *_args, **_kwargs):
        self.warnings.append(str(message))

    def error(self, _message, *_args, **_kwargs):
        """The same text is raised, and must not count as a warning that came before it."""


_BROADCAST_ERRORS = {
    'is_upcoming': NotStartedError, 'is_live': UnfinishedBroadcastError, 'post_live': UnfinishedBroadcastError,
    'was_live': UnfinishedBroadcastError,
}


class _Extractors(dict):
    """All extractors by key. `values()` is what the generic extractor scans a page with:
    only those that can find an embedded player."""

    def values(self):
        return _embed_finders()


@functools.lru_cache(maxsize=None)
def _all_extractors():
    return _Extractors((extractor.ie_key(), extractor) for extractor in gen_extractor_classes())


@functools.lru_cache(maxsize=None)
def _embed_finders():
    classes = [getattr(extractor, 'real_class', extractor) for extractor in dict.values(_all_extractors())]
    return [cls for cls in classes if cls._EMBED_REGEX
            or cls._extract_embed_urls.__func__ is not InfoExtractor._extract_embed_urls.__func__
            or getattr(cls._extract_from_webpage, '__func__', cls._extract_from_webpage)
            is not InfoExtractor._extract_from_webpage.__func__]


class Downloader(yt_dlp.YoutubeDL):
    """A YoutubeDL that returns one video. From a page with several it takes the requested one,
    or the first that works. It rejects a real playlist or channel before it fetches any entry."""

    def __init__(self, params, item=None):
        super().__init__(params, auto_init=False)
        self._ies = _Extractors(_all_extractors())
        self.playlist_position = None
        self.items = []
        self.cache = PlayerCache(self)
        self._budget = limits.Budget()
        self._item = item
        # Why a doubtful format was left out.
        self.check_error = None
        # URLs that turned out to be images.
        self.images = set()

    def urlopen(self, req):
        self._budget.count_request()
        response = super().urlopen(req)
        self._budget.bound(response)
        if (response.headers.get('Content-Type') or '').lower().startswith('image/'):
            self.images.add(response.geturl() if hasattr(response, 'geturl') else response.url)
        return response

    def get_info_extractor(self, ie_key):
        extractor = super().get_info_extractor(ie_key)
        # Its module may have been imported just now: this is its state before any page.
        pristine.remember()
        return extractor

    def process_ie_result(self, ie_result, download=True, extra_info=None):
        if ie_result.get('_type', 'video') not in ('playlist', 'multi_video', 'compat_list'):
            return super().process_ie_result(ie_result, download, extra_info)
        entries = ie_result.get('entries')
        if not _is_one_page(ie_result, entries):
            raise PlaylistError(ie_result.get('title') or ie_result.get('id') or 'untitled')
        inherited = {key: ie_result[key] for key in (
            'extractor', 'extractor_key', 'webpage_url', 'original_url', 'thumbnail', 'description')
            if ie_result.get(key)}
        page_title = ie_result.get('title')
        if page_title and entries[0].get('title') == f'{page_title} (1)':
            entries[0]['title'] = page_title
        # A nested list is not numbered.
        is_page = not self.items
        if is_page:
            self.items = list(entries)
        first_error = None
        for index in _candidates(entries, self._item if is_page else None):
            if is_page and len(entries) > 1:
                self.playlist_position = (index + 1, len(entries))
            try:
                return self.process_ie_result(entries[index], download, {**inherited, **(extra_info or {})})
            except YoutubeDLError as error:
                first_error = first_error or error
        raise first_error

    def process_video_result(self, info_dict, download=True):
        if self._item is not None and self._item > 1 and not self.items:
            raise NoSuchItemError(1)
        error_class = _BROADCAST_ERRORS.get(info_dict.get('live_status'))
        if error_class and not (info_dict.get('formats') or info_dict.get('url')):
            raise error_class('The broadcast has no formats', expected=True)
        try:
            return super().process_video_result(info_dict, download)
        except ExtractorError as error:
            if self.check_error is None or 'Requested format is not available' not in str(error):
                raise
        # Outside of the handler, so that it has no other error as its context.
        raise self.check_error

    def _check_formats(self, formats, *_args, **_kwargs):
        """yt-dlp's own check downloads through temporary files; it asks for formats that
        the extractor calls doubtful."""
        for fmt in formats:
            if '__working' not in fmt:
                fmt['__working'] = format_check.works(self, fmt)
            if fmt['__working']:
                yield fmt


def _candidates(entries, item):
    """Indices of the entries to try, in order: the requested one alone, or those that offer media."""
    if item is not None:
        if item > len(entries):
            raise NoSuchItemError(len(entries))
        return [item - 1]
    # The slides of a post can be photographs, which have no formats.
    offering = [index for index, entry in enumerate(entries) if entry.get('formats') or entry.get('url')]
    return (offering or [0])[:_ENTRIES_TRIED]


def _is_one_page(playlist, entries):
    """A page whose several media are already found (two <video> elements, a post
    with two clips), not a list of URLs of further pages."""
    if playlist['_type'] == 'multi_video' or not isinstance(entries, (list, tuple)) or not entries:
        return False
    if any(entry.get('_type', 'video') != 'video' for entry in entries):
        return playlist.get('extractor_key') == 'Generic' and 'webpage_url' in playlist and _is_embed(playlist)
    return True


def _is_embed(playlist):
    # A feed's entries are separate pages and its id is its URL; the embeds
    # of a web page have the page's short id.
    return playlist.get('id') != playlist.get('webpage_url')


class _StrictCookiePolicy(http.cookiejar.DefaultCookiePolicy):
    """Sends a host's own cookies (FALSE in the second field of a cookie file, or set without
    Domain) to that host only, as browsers do (RFC 6265, 5.4). Python's default also sends
    them to the hosts below it."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **{'strict_ns_domain': self.DomainStrictNonDomain, **kwargs})


def make_cookies_strict():
    """Makes the strict policy every jar's default: yt-dlp's `requests` handler copies the
    cookies of a request into a new jar."""
    http.cookiejar.DefaultCookiePolicy = _StrictCookiePolicy


def share_tls_contexts():
    """Loads the certificates once instead of in every job, which takes 20 ms. A context
    holds trust settings only; connections and sessions are each job's own."""
    try:
        from yt_dlp.networking import common
        common.make_ssl_context = functools.lru_cache(maxsize=8)(common.make_ssl_context)
    except (ImportError, AttributeError):
        # Before 2023.07 contexts are made elsewhere; it is then a little slower.
        return


def build(job, log, extractor_arguments=None):
    """One fresh downloader for a job; see the parent's engine-job schema for its fields."""
    first_target = next(iter(job['targets'].values()))
    params = {
        'quiet': True,
        'noprogress': True,
        'logger': log,
        'simulate': True,
        'skip_download': True,
        'cachedir': False,
        'noplaylist': True,
        'playlist_items': '1',
        'default_search': 'error',
        'enable_file_urls': False,
        # Only those that the extractor itself marks as doubtful.
        'check_formats': None,
        'socket_timeout': job['socketTimeoutSeconds'],
        'retries': 1,
        'extractor_retries': 1,
        'file_access_retries': 0,
        'proxy': job['proxyUrl'],
        'format': first_target['format'],
        'format_sort': first_target['sort'],
        'extractor_args': extractor_arguments or {},
    }
    if job.get('cookies'):
        # A stream instead of a path: yt-dlp writes changed cookies back to where
        # it read them, and the operator's file is not one request's to change.
        params['cookiefile'] = io.StringIO(job['cookies'])
    runtime = javascript_runtime()
    if runtime:
        params['js_runtimes'] = {runtime.name: {'path': runtime.path}}
    return Downloader(params, job.get('item'))
