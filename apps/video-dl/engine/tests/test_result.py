import unittest
import xml.etree.ElementTree

from yt_dlp.utils import parse_m3u8_attributes

from download_engine import dash_tracks, downloader, hls_playlists, result


class TitleTest(unittest.TestCase):
    def test_removes_the_number_that_yt_dlp_added(self):
        info = {'id': 'watch-1', 'title': 'A page (1)', 'extractor': 'html5'}
        self.assertEqual(result._own_title(info), 'A page')

    def test_keeps_the_pages_own_number(self):
        self.assertEqual(result._own_title({'id': '1', 'title': 'Part (1)', 'extractor': 'youtube'}), 'Part (1)')
        self.assertEqual(result._own_title({'id': 'x', 'title': 'Part (1)', 'extractor': 'generic'}), 'Part (1)')


class CoversTest(unittest.TestCase):
    def test_takes_the_best_images_that_players_show(self):
        names = ('hqdefault.jpg', 'hqdefault.webp', 'hq720.jpg', 'maxresdefault.jpg?a=.webp', 'maxresdefault.webp')
        info = {'thumbnail': 'https://i.example/maxresdefault.webp',
                'thumbnails': [{'url': f'https://i.example/{name}'} for name in names]}
        self.assertEqual(result._covers(info), [f'https://i.example/{name}' for name in (
            'maxresdefault.jpg?a=.webp', 'hq720.jpg', 'hqdefault.jpg')])

    def test_takes_any_thumbnail_of_a_page_without_such_images(self):
        info = {'thumbnail': 'https://i.example/a.webp', 'thumbnails': [{'url': 'https://i.example/a.webp'}, None]}
        self.assertEqual(result._covers(info), ['https://i.example/a.webp'])

    def test_has_none_of_a_page_without_a_thumbnail(self):
        self.assertEqual(result._covers({}), [])


class PlaylistTest(unittest.TestCase):
    def test_duration_is_not_rounded(self):
        self.assertEqual(hls_playlists.duration('#EXTM3U\n#EXTINF:2.5,a\n1.ts\n#EXTINF:1.25,\n2.ts\n'), 3.75)


class HlsDefaultsTest(unittest.TestCase):
    """yt-dlp takes the last of equal renditions."""

    def defaults(self, *renditions):
        lines = [f'#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="{index}",{rest}' for index, rest in enumerate(renditions)]
        text = hls_playlists.with_defaults('\n'.join(['#EXTM3U', *lines, '#EXT-X-STREAM-INF:AUDIO="a"', 'v.m3u8']))
        return [parse_m3u8_attributes(line)['DEFAULT'] for line in text.splitlines() if 'EXT-X-MEDIA' in line]

    def test_a_stated_default_is_the_only_one(self):
        self.assertEqual(self.defaults('URI="a"', 'URI="b",DEFAULT=YES', 'URI="c"'), ['NO', 'YES', 'NO'])

    def test_the_first_is_the_default_if_none_is_stated(self):
        self.assertEqual(self.defaults('URI="a"', 'URI="b",DEFAULT=NO'), ['YES', 'NO'])

    def test_an_audio_description_is_not_the_default(self):
        describes = 'URI="a",DEFAULT=NO,CHARACTERISTICS="public.accessibility.describes-video"'
        self.assertEqual(self.defaults(describes, 'URI="b",DEFAULT=NO'), ['NO', 'YES'])

    def test_other_audio_is_left_out_if_the_default_is_in_the_variants(self):
        self.assertEqual(self.defaults('DEFAULT=YES', 'URI="b",DEFAULT=NO'), ['YES'])


class DashPreferencesTest(unittest.TestCase):
    """Without them, yt-dlp takes the last of equal tracks."""

    def preferences(self, *sets):
        tracks = ''.join(
            f'<AdaptationSet {attributes}>{children}<Representation id="{index}"/></AdaptationSet>'
            for index, (attributes, children) in enumerate(sets))
        document = f'<MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><Period>{tracks}</Period></MPD>'
        return dash_tracks.preferences(xml.etree.ElementTree.fromstring(document))

    def role(self, value):
        return f'<Role schemeIdUri="urn:mpeg:dash:role:2011" value="{value}"/>'

    def test_a_commentary_comes_after_the_main_audio(self):
        video, audio = 'contentType="video"', 'contentType="audio"'
        sets = [(video, ''), (audio, self.role('commentary')), (audio, self.role('main'))]
        self.assertEqual(self.preferences(*sets), {'1': -10})

    def test_an_audio_description_comes_after_other_audio(self):
        purpose = '<Accessibility schemeIdUri="urn:tva:metadata:cs:AudioPurposeCS:2007" value="1"/>'
        self.assertEqual(self.preferences(('mimeType="audio/mp4"', ''), ('mimeType="audio/mp4"', purpose)), {'1': -10})

    def test_the_first_language_comes_before_the_others(self):
        english, french = 'contentType="audio" lang="en"', 'contentType="audio" lang="fr"'
        self.assertEqual(self.preferences((english, ''), (english, ''), (french, '')), {'2': -2})

    def test_the_language_of_the_main_audio_comes_first(self):
        english, french = 'contentType="audio" lang="en"', 'contentType="audio" lang="fr"'
        self.assertEqual(self.preferences((french, ''), (english, self.role('main'))), {'0': -2})

    def test_a_video_of_another_role_is_not_worse(self):
        sets = [('contentType="video"', self.role('main')), ('contentType="video"', self.role('alternate'))]
        self.assertEqual(self.preferences(*sets), {})


class PartsTest(unittest.TestCase):
    """Fragments that an extractor lists without a manifest become a playlist."""

    def format(self, *fragments):
        return {'url': 'https://a.example/', 'protocol': 'http_dash_segments',
                'fragment_base_url': 'https://cdn.example/x/', 'fragments': fragments}

    def test_first_fragment_is_the_initialisation(self):
        fmt = self.format({'path': 'init'}, {'path': '/1', 'duration': 2.0}, {'url': 'https://b.example/2', 'duration': 1.5})
        self.assertTrue(result._usable(fmt))
        self.assertEqual(result._playlist(fmt).split('\n'), [
            '#EXTM3U', '#EXT-X-PLAYLIST-TYPE:VOD', '#EXT-X-MAP:URI="https://cdn.example/x/init"', '#EXTINF:2.000000,',
            'https://cdn.example/1', '#EXTINF:1.500000,', 'https://b.example/2', '#EXT-X-ENDLIST', ''])

    def test_no_initialisation_if_all_have_a_duration(self):
        fmt = self.format({'path': '1', 'duration': 2}, {'path': '2', 'duration': 3})
        self.assertNotIn('EXT-X-MAP', result._playlist(fmt))

    def test_rejects_unknown_durations_and_urls_that_would_break_the_playlist(self):
        for fragments in ([{'path': '1'}], [{'path': 'init'}, {'path': '1'}],
                          [{'path': '1', 'duration': 2}, {'url': 'https://a.example/"\n#EXT', 'duration': 2}],
                          [{'url': 'file:///etc/passwd', 'duration': 2}]):
            self.assertFalse(result._usable(self.format(*fragments)), fragments)

    def test_prefers_a_manifest(self):
        fmt = {**self.format({'path': '1'}), 'manifest_url': 'https://a.example/x.mpd',
               dash_tracks.KEY: dash_tracks.Track('video', 'v', False)}
        self.assertTrue(result._usable(fmt))
        self.assertIsNone(result._playlist(fmt))


class PlainJsonTest(unittest.TestCase):
    def test_numbers_are_finite_or_none(self):
        for value in (float('nan'), float('inf'), True, '7', None):
            self.assertIsNone(result._number(value))
        self.assertEqual(result._number(29.97), 29.97)

    def test_text_is_valid_unicode(self):
        self.assertEqual(result._text('half \ud83d'), 'half ?')
        self.assertIsNone(result._text({'not': 'text'}))
        self.assertEqual(result._text(7), '7')

    def test_headers_exclude_those_that_the_relay_sets(self):
        fmt = {'http_headers': {'Referer': 'https://a.example/', 'Cookie': 'x=1', 'Accept-Encoding': 'gzip'}}
        self.assertEqual(result._headers(fmt, {}), {'Referer': 'https://a.example/'})


class UsableTest(unittest.TestCase):
    def test_excludes_formats_that_the_relay_cannot_fetch(self):
        for fmt in ({'url': 'rtmp://x', 'protocol': 'rtmp'}, {'url': 'https://x', 'protocol': 'mhtml'},
                    {'url': 'https://x', 'protocol': 'https', 'has_drm': True}, {'protocol': 'https'}):
            self.assertFalse(result._usable(fmt), fmt)
        self.assertTrue(result._usable({'url': 'https://x', 'protocol': 'm3u8_native'}))
        self.assertTrue(result._usable({'url': 'https://x'}))


class OnePageTest(unittest.TestCase):
    page = {'_type': 'playlist', 'id': 'page', 'extractor_key': 'Generic', 'webpage_url': 'https://a.example/page'}

    def test_accepts_several_videos_on_one_page(self):
        self.assertTrue(downloader._is_one_page(self.page, [{'formats': []}, {'url': 'b'}]))
        self.assertTrue(downloader._is_one_page(self.page, [{'_type': 'url', 'url': 'b'}]))

    def test_rejects_lists_of_other_pages(self):
        feed = {**self.page, 'id': self.page['webpage_url']}
        channel = {**self.page, 'extractor_key': 'Channel'}
        for playlist in (feed, channel):
            self.assertFalse(downloader._is_one_page(playlist, [{'_type': 'url', 'url': 'b'}] * 2))
        self.assertFalse(downloader._is_one_page(self.page, iter([])))
        self.assertFalse(downloader._is_one_page(self.page, []))
        self.assertFalse(downloader._is_one_page({**self.page, '_type': 'multi_video'}, [{'url': 'a'}]))


if __name__ == '__main__':
    unittest.main()
