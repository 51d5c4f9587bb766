import unittest

from yt_dlp import YoutubeDL
from yt_dlp.utils import ExtractorError, GeoRestrictedError

from download_engine import failures
from download_engine.downloader import Log, PlaylistError


def raised(work):
    try:
        work()
    except Exception as error:
        return error
    raise AssertionError('nothing was raised')


class DescribeTest(unittest.TestCase):
    def test_names_the_class_with_its_bases(self):
        described = failures.describe(GeoRestrictedError('Not here'))
        self.assertEqual(described['kind'], 'GeoRestrictedError')
        self.assertIn('ExtractorError', described['kinds'])
        self.assertEqual(described['message'], 'Not here')

    def test_finds_what_was_raised_inside_of_the_envelope(self):
        ydl = YoutubeDL({'quiet': True, 'logger': Log(), 'default_search': 'error'})
        described = failures.describe(raised(lambda: ydl.extract_info('no address', download=False)))
        self.assertEqual(described['kind'], 'ExtractorError')
        self.assertIn('is not a valid URL', described['message'])

    def test_tells_the_causes_and_the_status_beneath(self):
        class HTTPError(Exception):
            status = 410

        described = failures.describe(ExtractorError('Unable to download', cause=HTTPError('Gone')))
        self.assertEqual(described['httpStatus'], 410)
        self.assertIn('Gone', described['causes'])
        self.assertIn('HTTPError', described['kinds'])

    def test_survives_causes_that_go_round(self):
        first, second = ValueError('first'), ValueError('second')
        first.__cause__, second.__cause__ = second, first
        self.assertEqual(failures.describe(first)['causes'], ['second'])

    def test_takes_colours_and_prefixes_off(self):
        self.assertEqual(failures.describe(ValueError('\x1b[0;31mERROR:\x1b[0m No'))['message'], 'No')

    def test_keeps_messages_bounded(self):
        self.assertLessEqual(len(failures.describe(ValueError('x' * 100_000))['message']), 2_000)

    def test_knows_its_own_refusal_of_playlists(self):
        self.assertEqual(failures.describe(PlaylistError('Songs'))['kind'], 'PlaylistError')


if __name__ == '__main__':
    unittest.main()
