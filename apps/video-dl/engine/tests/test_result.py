import unittest

from download_engine import downloader, result


class TitleTest(unittest.TestCase):
    def test_is_the_pages_own_where_yt_dlp_numbered_it(self):
        info = {'id': 'watch-1', 'title': 'A page (1)', 'extractor': 'html5'}
        self.assertEqual(result._own_title(info), 'A page')

    def test_keeps_a_number_that_the_page_has(self):
        self.assertEqual(result._own_title({'id': '1', 'title': 'Part (1)', 'extractor': 'youtube'}), 'Part (1)')
        self.assertEqual(result._own_title({'id': 'x', 'title': 'Part (1)', 'extractor': 'generic'}), 'Part (1)')


class FragmentsTest(unittest.TestCase):
    def test_add_up_to_the_duration(self):
        parts = [{'url': 'init'}, {'url': '1', 'duration': 2.0}, {'url': '2', 'duration': 1.5}]
        self.assertEqual(result._fragments_duration({'fragments': parts}), 3.5)

    def test_say_nothing_where_one_has_no_duration(self):
        parts = [{'url': 'init'}, {'url': '1'}, {'url': '2', 'duration': 1.5}]
        self.assertIsNone(result._fragments_duration({'fragments': parts}))

    def test_are_joined_with_their_base(self):
        fmt = {'fragment_base_url': 'https://cdn.example/', 'fragments': [{'path': 'a'}, {'url': 'https://b.example/b'}]}
        self.assertEqual(result._fragments(fmt), [{'url': 'https://cdn.example/a'}, {'url': 'https://b.example/b'}])


class PlainJsonTest(unittest.TestCase):
    def test_numbers_are_finite_or_absent(self):
        for value in (float('nan'), float('inf'), True, '7', None):
            self.assertIsNone(result._number(value))
        self.assertEqual(result._number(29.97), 29.97)

    def test_text_is_valid_unicode(self):
        self.assertEqual(result._text('half \ud83d'), 'half ?')
        self.assertIsNone(result._text({'not': 'text'}))
        self.assertEqual(result._text(7), '7')

    def test_headers_leave_out_what_the_relay_decides(self):
        fmt = {'http_headers': {'Referer': 'https://a.example/', 'Cookie': 'x=1', 'Accept-Encoding': 'gzip'}}
        self.assertEqual(result._headers(fmt, {}), {'Referer': 'https://a.example/'})


class UsableTest(unittest.TestCase):
    def test_formats_that_the_relay_cannot_fetch_are_left_out(self):
        for fmt in ({'url': 'rtmp://x', 'protocol': 'rtmp'}, {'url': 'https://x', 'protocol': 'mhtml'},
                    {'url': 'https://x', 'protocol': 'https', 'has_drm': True}, {'protocol': 'https'}):
            self.assertFalse(result._usable(fmt), fmt)
        self.assertTrue(result._usable({'url': 'https://x', 'protocol': 'm3u8_native'}))
        self.assertTrue(result._usable({'url': 'https://x'}))


class OnePageTest(unittest.TestCase):
    page = {'_type': 'playlist', 'id': 'page', 'extractor_key': 'Generic', 'webpage_url': 'https://a.example/page'}

    def test_several_videos_of_a_page_are_one_page(self):
        self.assertTrue(downloader._is_one_page(self.page, [{'formats': []}, {'url': 'b'}]))
        self.assertTrue(downloader._is_one_page(self.page, [{'_type': 'url', 'url': 'b'}]))

    def test_lists_of_further_pages_are_not(self):
        feed = {**self.page, 'id': self.page['webpage_url']}
        channel = {**self.page, 'extractor_key': 'Channel'}
        for playlist in (feed, channel):
            self.assertFalse(downloader._is_one_page(playlist, [{'_type': 'url', 'url': 'b'}] * 2))
        self.assertFalse(downloader._is_one_page(self.page, iter([])))
        self.assertFalse(downloader._is_one_page(self.page, []))
        self.assertFalse(downloader._is_one_page({**self.page, '_type': 'multi_video'}, [{'url': 'a'}]))


if __name__ == '__main__':
    unittest.main()
