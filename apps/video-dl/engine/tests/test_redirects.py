import http.server
import threading
import unittest
import urllib.request

from download_engine import downloader, own_api, redirects

try:
    from yt_dlp.networking import Request
    from yt_dlp.networking._urllib import RedirectHandler
    from yt_dlp.networking.exceptions import HTTPError, RequestError
    from yt_dlp.networking.impersonate import ImpersonateTarget
except ImportError:
    from yt_dlp.utils import YoutubeDLRedirectHandler as RedirectHandler
    Request = None


def setUpModule():
    redirects.engage()


class Site(http.server.BaseHTTPRequestHandler):
    """Redirects `/<status>?<location>`. At every other path, it states what it received."""

    def do_GET(self):
        status, _, location = self.path.lstrip('/').partition('?')
        self.send_response(int(status) if location else 200)
        if location:
            self.send_header('Set-Cookie', 'seen=1; Path=/')
            self.send_header('Location', location)
        else:
            self.send_header('Got-Method', self.command)
            for name in ('Cookie', 'Authorization', 'Content-Type', 'X-Own'):
                self.send_header(f'Got-{name}', self.headers.get(name) or '')
        self.send_header('Content-Length', '0')
        self.end_headers()

    def do_POST(self):
        self.rfile.read(int(self.headers['Content-Length']))
        self.do_GET()

    def log_message(self, *_args):
        pass


class UrllibRedirectsTest(unittest.TestCase):
    def test_none_leads_to_our_own_api(self):
        request = urllib.request.Request('https://video.example/')
        with self.assertRaises(own_api.OwnApiError):
            RedirectHandler().redirect_request(request, None, 302, 'Found', {}, 'https://other.example/api/info?url=x')
        followed = RedirectHandler().redirect_request(request, None, 302, 'Found', {}, 'https://other.example/watch')
        self.assertEqual(followed.full_url, 'https://other.example/watch')


@unittest.skipUnless(Request, 'before 2023.07, yt-dlp has no other handlers')
class RequestsRedirectsTest(unittest.TestCase):
    """Of the handler that yt-dlp prefers."""

    is_impersonated = False

    def setUp(self):
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Site)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, kwargs={'poll_interval': 0.02}, daemon=True).start()
        self.port = server.server_address[1]
        job = {'targets': {'mp3': {'format': 'ba', 'sort': []}}, 'socketTimeoutSeconds': 5, 'proxyUrl': ''}
        self.ydl = downloader.build(job, downloader.Log())
        self.addCleanup(self.ydl.close)

    def get(self, path, **options):
        extensions = {'impersonate': ImpersonateTarget()} if self.is_impersonated else {}
        request = Request(f'http://127.0.0.1:{self.port}{path}', extensions=extensions, **options)
        with self.ydl.urlopen(request) as response:
            return response

    def test_none_leads_to_our_own_api(self):
        for location in ('/api/info?url=x', f'http://localhost:{self.port}/api/info?url=x',
                         f'http://localhost:{self.port}/api/x/../info?url=x',
                         f'http://localhost:{self.port}/302?/media/api/stream?url=x'):
            with self.assertRaises(own_api.OwnApiError):
                self.get(f'/302?{location}')

    def test_others_are_followed(self):
        self.assertEqual(self.get('/301?/302?found').url, f'http://127.0.0.1:{self.port}/found')

    def test_cookies_that_they_set_are_sent(self):
        self.assertEqual(self.get('/302?/found').headers['Got-Cookie'], 'seen=1')

    def test_a_form_is_sent_again_only_if_the_status_says_so(self):
        for status, method, content_type in ((302, 'GET', ''), (303, 'GET', ''), (307, 'POST', 'text/plain')):
            got = self.get(f'/{status}?/found', data=b'a=1', headers={'Content-Type': 'text/plain'}).headers
            self.assertEqual((got['Got-Method'], got['Got-Content-Type']), (method, content_type))

    def test_credentials_stay_at_their_host(self):
        headers = {'Authorization': 'Bearer secret', 'X-Own': 'kept'}
        for location, credentials in (('/found', 'Bearer secret'), (f'http://localhost:{self.port}/found', '')):
            got = self.get(f'/302?{location}', headers=headers).headers
            self.assertEqual((got['Got-Authorization'], got['Got-X-Own']), (credentials, 'kept'))

    def test_other_protocols_are_rejected(self):
        with self.assertRaises(RequestError):
            self.get('/302?file:///etc/hostname')

    def test_a_target_that_is_no_url_is_an_error(self):
        with self.assertRaises((RequestError, ValueError)):
            self.get('/302?http://[')
        self.assertEqual(self.get('/found').status, 200)

    def test_a_loop_ends(self):
        with self.assertRaises(HTTPError) as raised:
            self.get('/302?' * 40 + '/found')
        self.assertTrue(raised.exception.redirect_loop)


class CurlRedirectsTest(RequestsRedirectsTest):
    is_impersonated = True


if __name__ == '__main__':
    unittest.main()
