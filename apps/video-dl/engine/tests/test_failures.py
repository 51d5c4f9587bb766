import unittest

from yt_dlp import YoutubeDL
from yt_dlp.utils import ExtractorError, GeoRestrictedError

from download_engine import failures
from download_engine.downloader import Log


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

    def test_unwraps_download_errors(self):
        ydl = YoutubeDL({'quiet': True, 'logger': Log(), 'default_search': 'error'})
        described = failures.describe(raised(lambda: ydl.extract_info('no address', download=False)))
        self.assertEqual(described['kind'], 'ExtractorError')
        self.assertIn('is not a valid URL', described['message'])

    def test_reports_causes_and_their_http_status(self):
        class HTTPError(Exception):
            status = 410

        described = failures.describe(ExtractorError('Unable to download', cause=HTTPError('Gone')))
        self.assertEqual(described['httpStatus'], 410)
        self.assertIn('Gone', described['causes'])
        self.assertIn('HTTPError', described['kinds'])

    def test_handles_circular_causes(self):
        first, second = ValueError('first'), ValueError('second')
        first.__cause__, second.__cause__ = second, first
        self.assertEqual(failures.describe(first)['causes'], ['second'])

    def test_strips_colours_and_prefixes(self):
        self.assertEqual(failures.describe(ValueError('\x1b[0;31mERROR:\x1b[0m No'))['message'], 'No')

    def test_truncates_messages(self):
        self.assertLessEqual(len(failures.describe(ValueError('x' * 100_000))['message']), 2_000)


if __name__ == '__main__':
    unittest.main()
