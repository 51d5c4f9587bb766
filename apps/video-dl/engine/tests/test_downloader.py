import http.server
import threading
import unittest
import urllib.request

from download_engine import downloader, extractors, result

COOKIES = """# Netscape HTTP Cookie File
video.example\tFALSE\t/\tFALSE\t4102444800\town\t1
.video.example\tTRUE\t/\tFALSE\t4102444800\twide\t1
"""


def setUpModule():
    downloader.make_cookies_strict()


def build(proxy_url=None):
    job = {
        'targets': {'mp3': {'format': 'ba', 'sort': []}},
        'socketTimeoutSeconds': 1,
        'proxyUrl': proxy_url,
        'cookies': COOKIES,
    }
    return downloader.build(job, downloader.Log())


def sent_to(url):
    request = urllib.request.Request(url)
    build().cookiejar.add_cookie_header(request)
    return set((request.get_header('Cookie') or '').split('; '))


def really_sent_to(url):
    """The cookies that arrive at a proxy when yt-dlp requests the URL."""
    arrived = []

    class Proxy(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            arrived.append(self.headers.get('Cookie') or '')
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_args):
            pass

    with http.server.HTTPServer(('127.0.0.1', 0), Proxy) as proxy:
        threading.Thread(target=proxy.serve_forever, kwargs={'poll_interval': 0.02}, daemon=True).start()
        build(f'http://127.0.0.1:{proxy.server_address[1]}').urlopen(url).close()
        proxy.shutdown()
    return set(arrived[0].split('; '))


class CookiesTest(unittest.TestCase):
    def test_host_only_cookies_go_to_their_host(self):
        self.assertEqual(sent_to('http://video.example/watch'), {'own=1', 'wide=1'})

    def test_host_only_cookies_do_not_go_to_subdomains(self):
        self.assertEqual(sent_to('http://media.video.example/front.mp4'), {'wide=1'})

    def test_real_requests_follow_these_rules(self):
        self.assertEqual(really_sent_to('http://video.example/watch'), {'own=1', 'wide=1'})
        self.assertEqual(really_sent_to('http://media.video.example/front.mp4'), {'wide=1'})

    def test_cookies_do_not_go_to_other_hosts(self):
        self.assertEqual(sent_to('http://notvideo.example/'), {''})

    def test_results_state_their_scopes(self):
        cookies = result._cookies(build(), {'url': 'https://video.example/watch'})
        self.assertEqual({each.pop('name'): each for each in cookies}, {
            'own': {'value': '1', 'domain': 'video.example', 'path': '/', 'secure': False},
            'wide': {'value': '1', 'domain': '.video.example', 'path': '/', 'secure': False}})
        self.assertEqual(result._cookies(build(), {'url': 'https://notvideo.example/'}), [])


class EmbedFindersTest(unittest.TestCase):
    def test_every_extractor_that_finds_embedded_players_is_found_without_importing_the_others(self):
        every = [extractors.real_class(extractor) for extractor in dict.values(extractors.all_extractors())]
        expected = [cls for cls in every if extractors.finds_embeds(cls)]
        self.assertGreater(len(expected), 100)
        self.assertEqual(extractors.embed_finders(), expected)

    def test_leaves_out_most_modules(self):
        every = list(dict.values(extractors.all_extractors()))
        modules = {getattr(each, '_module', each.__module__): each for each in every}
        found = {module for module, each in modules.items() if extractors.may_find_embeds(each)}
        self.assertLess(len(found), len(modules) / 2)


if __name__ == '__main__':
    unittest.main()


class UrlPatternsTest(unittest.TestCase):
    def test_the_first_extractor_that_suits_a_url_gets_it(self):
        urls = [
            'https://www.youtube.com/watch?v=BaW_jenozKc&list=PL1',
            'https://www.youtube.com/playlist?list=PLrEnWoR732',
            'https://vimeo.com/76979871',
            'https://vimeo.com/channels/staffpicks',
            'https://www.dailymotion.com/video/x5kesuj',
            'https://soundcloud.com/artist/title',
            'https://www.bbc.co.uk/iplayer/episode/b00yng5w',
            'https://video.example/watch/1',
            'ytsearch:film',
            'film',
        ]
        suited = set()
        for url in urls:
            every = extractors.all_extractors().items()
            expected = next(key for key, extractor in every if extractor.suitable(url))
            self.assertEqual(extractors.key_for(url), expected)
            suited.add(expected)
        self.assertGreater(len(suited), 6)

    def test_few_extractors_are_asked(self):
        every = list(dict.values(extractors.all_extractors()))
        asked = [extractor for extractor in every if extractors._url_test(extractor) == extractor.suitable]
        self.assertLess(len(asked), len(every) / 10)
