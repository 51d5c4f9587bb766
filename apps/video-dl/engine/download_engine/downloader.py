"""Builds a new YoutubeDL for each job, so that no state carries over from one page to the next."""

import collections
import functools
import http.cookiejar
import io

import yt_dlp
from yt_dlp.utils import ExtractorError, YoutubeDLError

from . import extractors, format_check, hls_playlists, limits, own_api, pristine, result
from .environment import javascript_runtime
from .player_cache import PlayerCache

# If this many embedded players are broken, we give up on the page.
_ENTRIES_TRIED = 5


class NoSuchItemError(ExtractorError):
    """The job requests a video with a higher number than the page has."""

    def __init__(self, count):
        super().__init__(f'The page has {count} videos', expected=True)
        self.count = count


class Log:
    """Keeps the warnings that yt-dlp would print, because they explain an error."""

    def __init__(self):
        self.warnings = collections.deque(maxlen=limits.WARNINGS)

    def debug(self, _message):
        pass

    def warning(self, message, *_args, **_kwargs):
        self.warnings.append(str(message)[:limits.TEXT_CHARACTERS])

    def error(self, _message, *_args, **_kwargs):
        """Ignored: the same text is raised as an exception, and isn't a warning."""


class Downloader(yt_dlp.YoutubeDL):
    """A YoutubeDL that returns one video. From a page with several videos it takes the requested
    one, or the first that works. Rejects real playlists and channels without fetching an entry."""

    def __init__(self, params, targets, item=None):
        super().__init__(params, auto_init=False)
        self.described = None
        self._ies = extractors.Extractors(extractors.all_extractors())
        self.playlist_index = self.playlist_count = None
        self.items = []
        self.cache = PlayerCache(self)
        self._budget = limits.Budget()
        self._targets = targets
        self._item = item
        # Why a doubtful format was excluded.
        self.check_error = None
        # By manifest: its best format, until we know whether that one is protected.
        self.best_qualities = {}
        self.clear_manifests = set()
        # URLs that turned out to be images.
        self.images = set()

    def extract_info(self, url, download=True, ie_key=None, **others):
        return super().extract_info(url, download, ie_key or extractors.key_for(url), **others)

    def urlopen(self, req):
        self._budget.count_request()
        own_api.check(req if isinstance(req, str) else getattr(req, 'url', None) or req.full_url)
        response = super().urlopen(req)
        self._budget.bound(response)
        hls_playlists.skip_byte_order_mark(response)
        if (response.headers.get('Content-Type') or '').lower().startswith('image/'):
            self.images.add(response.url)
        return response

    def get_info_extractor(self, ie_key):
        extractor = super().get_info_extractor(ie_key)
        # Its module may just have been imported, so record its state before any page.
        pristine.remember()
        return extractor

    def process_ie_result(self, ie_result, download=True, extra_info=None):
        if ie_result.get('_type', 'video') not in ('playlist', 'multi_video', 'compat_list'):
            return super().process_ie_result(ie_result, download, extra_info)
        entries = ie_result.get('entries')
        if not _is_one_page(ie_result, entries):
            raise ExtractorError('This is a playlist', expected=True)
        inherited = {key: ie_result[key] for key in (
            'extractor', 'extractor_key', 'webpage_url', 'original_url', 'thumbnail', 'description')
            if ie_result.get(key)}
        # The entries of a nested list have no item numbers.
        is_page = not self.items
        if is_page:
            self.items = list(entries)
        first_error = None
        for index in _candidates(entries, self._item if is_page else None):
            if is_page and len(entries) > 1:
                self.playlist_index, self.playlist_count = index + 1, len(entries)
            try:
                return self.process_ie_result(entries[index], download, {**inherited, **(extra_info or {})})
            except YoutubeDLError as error:
                first_error = first_error or error
        raise first_error

    def process_video_result(self, info_dict, download=True):
        if self._item is not None and self._item > 1 and not self.items:
            raise NoSuchItemError(1)
        _reject_broadcast(info_dict)
        info = super().process_video_result(info_dict, download)
        # Here, so that the next video of the page is tried if this one has no media.
        self.described = result.describe(self, info, self._targets)
        return info

    def _forceprint(self, _key, _info_dict):
        """Prints nothing. yt-dlp would first render tables of formats, thumbnails and subtitles."""

    def _check_formats(self, formats, *_args, **_kwargs):
        """Replaces yt-dlp's own check of formats that an extractor doubts, which downloads to temporary files."""
        for fmt in formats:
            if '__working' not in fmt:
                fmt['__working'] = format_check.works(self, fmt)
            if fmt['__working']:
                yield fmt


def _reject_broadcast(info):
    """A broadcast that is running has no end to wait for, and one that is over may have no recording."""
    status = info.get('live_status') or (info.get('is_live') and 'is_live')
    if status == 'is_upcoming':
        raise ExtractorError('The video has not started yet', expected=True)
    has_media = info.get('formats') or info.get('url')
    if status in ('is_live', 'post_live') or (status == 'was_live' and not has_media):
        raise ExtractorError('The video is live', expected=True)


def _candidates(entries, item):
    """Indices of the entries to try, in order: only the requested one, or those with media."""
    if item is not None:
        if item > len(entries):
            raise NoSuchItemError(len(entries))
        return [item - 1]
    # The slides of a post can be images, which have no formats.
    with_media = [index for index, entry in enumerate(entries) if entry.get('formats') or entry.get('url')]
    return (with_media or [0])[:_ENTRIES_TRIED]


def _is_one_page(playlist, entries):
    """Whether the videos are all on this page (two <video> elements, a post with two clips)
    rather than on other pages that it links to."""
    if playlist['_type'] == 'multi_video' or not isinstance(entries, (list, tuple)) or not entries:
        return False
    if any(entry.get('_type', 'video') != 'video' for entry in entries):
        # A feed's entries are separate pages, and its id is its URL. The embeds of a web page have the page's short id.
        return (playlist.get('extractor_key') == 'Generic'
                and playlist.get('webpage_url', playlist.get('id')) != playlist.get('id'))
    return True


def make_cookies_strict():
    """Sends host-only cookies (FALSE in the second field of a cookie file, or set without Domain) only to that host,
    as browsers do (RFC 6265, 5.4). Python's default also sends them to its subdomains. Applies to every cookie jar,
    because yt-dlp's `requests` handler copies the cookies of a request into a new one."""
    policy = http.cookiejar.DefaultCookiePolicy
    http.cookiejar.DefaultCookiePolicy = functools.partial(policy, strict_ns_domain=policy.DomainStrictNonDomain)


def share_tls_contexts():
    """Loads the certificates once instead of in every job, which takes 20 ms. Jobs share only
    these trust settings, not connections or sessions."""
    try:
        from yt_dlp.networking import common
        common.make_ssl_context = functools.lru_cache(maxsize=8)(common.make_ssl_context)
    except (ImportError, AttributeError):
        # Before 2023.07, contexts are created elsewhere, and every job loads the certificates.
        return


def build(job, log, extractor_arguments=None):
    """A new downloader for a job. The parent's EngineJob type documents the fields of `job`."""
    params = {
        'quiet': True,
        'logger': log,
        'simulate': True,
        'cachedir': False,
        'noplaylist': True,
        'playlist_items': '1',
        'default_search': 'error',
        'enable_file_urls': False,
        'socket_timeout': job['socketTimeoutSeconds'],
        'extractor_retries': 1,
        'proxy': job['proxyUrl'],
        # `result` selects for each target, and the first target's order is that of the list.
        'format': lambda context: context['formats'][-1:],
        'format_sort': next(iter(job['targets'].values()))['sort'],
        'extractor_args': extractor_arguments or {},
    }
    if job.get('cookies'):
        # A stream instead of a path, because yt-dlp writes changed cookies back to the file,
        # and a request must not change the operator's file.
        params['cookiefile'] = io.StringIO(job['cookies'])
    runtime = javascript_runtime()
    if runtime:
        params['js_runtimes'] = {runtime.name: {'path': runtime.path}}
    return Downloader(params, job['targets'], job.get('item'))
