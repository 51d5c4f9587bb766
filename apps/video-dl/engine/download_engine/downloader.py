"""Builds one YoutubeDL per job: nothing a page left behind reaches the next one."""

import collections
import functools
import http.cookiejar
import io

import yt_dlp
from yt_dlp.extractor import gen_extractor_classes
from yt_dlp.utils import ExtractorError

from . import limits, pristine
from .environment import javascript_runtime
from .player_cache import PlayerCache


class PlaylistError(ExtractorError):
    """The address is a playlist or a channel, not one video."""

    def __init__(self, title):
        super().__init__(f'This is a playlist: {title}', expected=True)


class Log:
    """Keeps what yt-dlp would print; its warnings explain an error."""

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

    def error(self, message, *_args, **_kwargs):
        self.warnings.append(str(message))


class Downloader(yt_dlp.YoutubeDL):
    """A YoutubeDL that answers with one video: a page with several gives the first that has media,
    a real playlist or channel is refused before any of its entries is fetched."""

    def __init__(self, params):
        super().__init__(params, auto_init=False)
        for extractor in gen_extractor_classes():
            self.add_info_extractor(extractor)
        self.playlist_position = None
        self.cache = PlayerCache(self)
        self._budget = limits.Budget()

    def urlopen(self, req):
        self._budget.count_request()
        response = super().urlopen(req)
        self._budget.bound(response)
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
        index = next((index for index, entry in enumerate(entries) if _offers_media(entry)), 0)
        first = entries[index]
        if len(entries) > 1 and self.playlist_position is None:
            self.playlist_position = (index + 1, len(entries))
        inherited = {key: ie_result[key] for key in (
            'extractor', 'extractor_key', 'webpage_url', 'original_url', 'thumbnail', 'description')
            if ie_result.get(key)}
        page_title = ie_result.get('title')
        if page_title and first.get('title') == f'{page_title} (1)':
            first['title'] = page_title
        return self.process_ie_result(first, download, {**inherited, **(extra_info or {})})


def _is_one_page(playlist, entries):
    """A page whose several media are already found (two <video> elements, a post
    with two clips), as against a list of addresses of further pages."""
    if playlist['_type'] == 'multi_video' or not isinstance(entries, (list, tuple)) or not entries:
        return False
    if any(entry.get('_type', 'video') != 'video' for entry in entries):
        return playlist.get('extractor_key') == 'Generic' and 'webpage_url' in playlist and _is_embed(playlist)
    return True


def _offers_media(entry):
    """Whether an entry is worth a look: the slides of a post can be photographs, which have no formats."""
    return bool(entry.get('formats') or entry.get('url'))


def _is_embed(playlist):
    # A feed's entries are pages of their own and its id is its address; embeds
    # of a web page carry the page's short id.
    return playlist.get('id') != playlist.get('webpage_url')


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
        'check_formats': False,
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
    ydl = Downloader(params)
    # Python sends the hosts below a host the cookies that it keeps for itself (FALSE in the second
    # field of a file, or set without Domain), unless it is told to do as browsers do (RFC 6265, 5.4).
    strict = http.cookiejar.DefaultCookiePolicy.DomainStrictNonDomain
    ydl.cookiejar.set_policy(http.cookiejar.DefaultCookiePolicy(strict_ns_domain=strict))
    return ydl
