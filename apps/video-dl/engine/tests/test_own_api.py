import unittest

from download_engine import own_api


class OwnApiTest(unittest.TestCase):
    def test_rejects_our_paths_on_any_host(self):
        for path in ('/api/info?url=x', '/media/api/stream/video?fmt=mp4-720&url=x', '/%61pi/info?%75rl=x',
                     '//api//stream?url=', '/api/remove-background?image_url=x'):
            with self.assertRaises(own_api.OwnApiError):
                own_api.check('https://other.example' + path)

    def test_allows_other_pages(self):
        for path in ('/api/info', '/api/information?url=x', '/watch?url=/api/info', '/%ff/api/info?u=x', ''):
            own_api.check('https://other.example' + path)

    def test_checks_redirects(self):
        own_api.engage()
        try:
            from yt_dlp.networking._urllib import RedirectHandler as handler
        except ImportError:
            from yt_dlp.utils import YoutubeDLRedirectHandler as handler
        import urllib.request
        request = urllib.request.Request('https://video.example/')
        with self.assertRaises(own_api.OwnApiError):
            handler().redirect_request(request, None, 302, 'Found', {}, 'https://other.example/api/info?url=x')
        followed = handler().redirect_request(request, None, 302, 'Found', {}, 'https://other.example/watch')
        self.assertEqual(followed.full_url, 'https://other.example/watch')


if __name__ == '__main__':
    unittest.main()
