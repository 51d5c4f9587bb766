import unittest
import urllib.request

from download_engine import downloader

COOKIES = """# Netscape HTTP Cookie File
video.example\tFALSE\t/\tFALSE\t4102444800\town\t1
.video.example\tTRUE\t/\tFALSE\t4102444800\twide\t1
"""


def sent_to(url):
    job = {
        'targets': {'mp3': {'format': 'ba', 'sort': []}},
        'socketTimeoutSeconds': 1,
        'proxyUrl': None,
        'cookies': COOKIES,
    }
    request = urllib.request.Request(url)
    downloader.build(job, downloader.Log()).cookiejar.add_cookie_header(request)
    return set((request.get_header('Cookie') or '').split('; '))


class CookiesTest(unittest.TestCase):
    def test_of_a_host_alone_go_to_that_host(self):
        self.assertEqual(sent_to('http://video.example/watch'), {'own=1', 'wide=1'})

    def test_of_a_host_alone_do_not_go_to_the_hosts_below_it(self):
        self.assertEqual(sent_to('http://media.video.example/front.mp4'), {'wide=1'})

    def test_go_to_no_other_host(self):
        self.assertEqual(sent_to('http://notvideo.example/'), {''})


if __name__ == '__main__':
    unittest.main()
