"""Checks every redirect that yt-dlp follows. The guard checks its address, but can't see the path inside HTTPS."""

import urllib.parse

from . import own_api

# The limit that yt-dlp sets for curl_cffi.
_MAX_REDIRECTS = 5


def engage():
    """Makes every handler check its redirects. All of them follow redirects by themselves."""
    try:
        from yt_dlp.networking._urllib import RedirectHandler as handler
    except ImportError:
        # Before 2023.07, this is the only handler.
        from yt_dlp.utils import YoutubeDLRedirectHandler as handler
    _check_each(handler, 'redirect_request', lambda req, fp, code, msg, headers, newurl: newurl)
    for engage_handler in (_engage_requests, _engage_curl):
        try:
            engage_handler()
        except ImportError:
            # Not installed, or yt-dlp is too old to use it.
            continue


def _engage_requests():
    from yt_dlp.networking._requests import RequestsSession
    _check_each(RequestsSession, 'rebuild_method', lambda prepared_request, response: prepared_request.url)


def _check_each(handler, name, url_of):
    """Checks the target before `handler` calls its method `name`, which it does for each redirect."""
    follow = getattr(handler, name)

    def checked(self, *args):
        own_api.check(url_of(*args))
        return follow(self, *args)

    setattr(handler, name, checked)


def _engage_curl():
    """Follows redirects here instead of inside libcurl, where nothing could check them."""
    from yt_dlp.networking._curlcffi import CurlCFFIRH
    from yt_dlp.networking.exceptions import HTTPError
    create, send = CurlCFFIRH._create_instance, CurlCFFIRH.send

    def create_without_redirects(self, **kwargs):
        session = create(self, **kwargs)
        session.allow_redirects = False
        return session

    def send_and_follow(self, request):
        for followed in range(_MAX_REDIRECTS + 1):
            try:
                return send(self, request)
            except HTTPError as error:
                request = _redirected(request, error.response)
                if request is None:
                    raise
                if followed == _MAX_REDIRECTS:
                    raise HTTPError(error.response, redirect_loop=True) from error
                # Only one response can be open.
                error.close()
                own_api.check(request.url)
                self.validate(request)

    CurlCFFIRH._create_instance, CurlCFFIRH.send = create_without_redirects, send_and_follow


def _redirected(request, response):
    """The request to a redirect's target, by the rules of yt-dlp's other handlers. None if there is no target."""
    from yt_dlp.networking._helper import get_redirect_method
    location = response.headers.get('Location')
    if response.status not in (301, 302, 303, 307, 308) or not location:
        return None
    redirected = request.copy()
    redirected.url = urllib.parse.urljoin(request.url, location)
    redirected.method = get_redirect_method(request.method, response.status)
    redirected.headers.pop('Cookie', None)
    if redirected.method != request.method:
        # Removes its type, too.
        redirected.data = None
    if urllib.parse.urlsplit(redirected.url)[:2] != urllib.parse.urlsplit(request.url)[:2]:
        redirected.headers.pop('Authorization', None)
    return redirected
