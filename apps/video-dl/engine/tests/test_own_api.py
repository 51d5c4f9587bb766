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


if __name__ == '__main__':
    unittest.main()
