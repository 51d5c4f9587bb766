import unittest

from download_engine import downloader, embed_modules


class EmbedModulesTest(unittest.TestCase):
    def test_every_extractor_that_finds_embedded_players_is_found_without_importing_the_others(self):
        every = [downloader._real_class(extractor) for extractor in dict.values(downloader._all_extractors())]
        expected = [cls for cls in every if downloader._finds_embeds(cls)]
        self.assertGreater(len(expected), 100)
        self.assertEqual(downloader._embed_finders(), expected)

    def test_leaves_out_most_modules(self):
        extractors = dict.values(downloader._all_extractors())
        every = {getattr(extractor, '_module', extractor.__module__) for extractor in extractors}
        self.assertLess(len(embed_modules.names()), len(every) / 2)
