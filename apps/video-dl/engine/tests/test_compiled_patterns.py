import contextlib
import marshal
import os
import re
import sys
import tempfile
import unittest
from unittest import mock

from yt_dlp.extractor import gen_extractor_classes

from download_engine import compiled_patterns

PATTERNS = [(r'(?P<id>\d+)(?:x(?P<rest>[^/?#]*))?$', 0), (r'(?xi) é | [a-z_]\b # letters', re.ASCII), ('a' * 3000, 0)]


@contextlib.contextmanager
def engaged():
    re.purge()
    compiled_patterns.engage()
    try:
        yield
    finally:
        compiled_patterns.release()
        re.purge()


def compiled(patterns):
    re.purge()
    return [re.compile(*pattern) for pattern in patterns]


@unittest.skipIf(compiled_patterns._compiler is None, 'needs Python 3.11 or later')
class CompiledPatternsTest(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.file = os.path.join(folder, 'folder', 'patterns')
        self.enterContext(mock.patch.object(compiled_patterns, '_file', self.file))
        self.enterContext(mock.patch.object(sys, 'dont_write_bytecode', False))

    def keep(self, patterns):
        with engaged():
            compiled(patterns)

    def assert_taken(self, patterns):
        expected = compiled(patterns)
        with engaged(), mock.patch.object(compiled_patterns, '_compile', side_effect=AssertionError('compiled')):
            # Patterns are equal if their flags and their compiled forms are.
            self.assertEqual(compiled(patterns), expected)

    def test_patterns_in_the_file_are_not_compiled_again(self):
        self.keep(PATTERNS)
        self.assert_taken(PATTERNS)
        taken = compiled(PATTERNS)[0].fullmatch('12xrest')
        self.assertEqual(taken.groupdict(), {'id': '12', 'rest': 'rest'})

    def test_the_patterns_of_all_extractors_are_the_same(self):
        patterns = [extractor._VALID_URL for extractor in gen_extractor_classes()]
        patterns = [(pattern, 0) for pattern in patterns if isinstance(pattern, str)]
        self.assertGreater(len(patterns), 1000)
        self.keep(patterns)
        self.assert_taken(patterns)

    def test_a_pattern_that_the_file_lacks_is_compiled(self):
        self.keep(PATTERNS)
        with engaged():
            self.assertEqual(compiled([('new', 0)])[0].pattern, 'new')

    def test_the_file_is_written_again_only_if_it_lacks_many(self):
        self.keep([(f'pattern {number}', 0) for number in range(20)])
        first = os.stat(self.file).st_ino
        self.keep([('another', 0)])
        self.assertEqual(os.stat(self.file).st_ino, first)
        self.keep(PATTERNS)
        self.assert_taken(PATTERNS)

    def test_a_file_that_is_damaged_or_of_another_python_is_replaced(self):
        self.keep(PATTERNS)
        with open(self.file, 'rb') as file:
            content = marshal.load(file)
        other = marshal.dumps({**content, 'format': ('another Python',)})
        for damaged in (b'', b'no patterns', marshal.dumps(7), other):
            with open(self.file, 'wb') as file:
                file.write(damaged)
            self.keep(PATTERNS)
            self.assert_taken(PATTERNS)

    def test_nothing_is_written_where_that_is_forbidden(self):
        with mock.patch.object(sys, 'dont_write_bytecode', True):
            self.keep(PATTERNS)
        self.assertFalse(os.path.exists(self.file))
        self.enterContext(mock.patch.object(compiled_patterns, '_file', '/proc/patterns'))
        self.keep(PATTERNS)

    def test_nothing_is_left_behind_when_the_disk_is_full(self):
        with mock.patch.object(marshal, 'dump', side_effect=OSError('No space left on device')):
            self.keep(PATTERNS)
        self.assertEqual(os.listdir(os.path.dirname(self.file)), [])

    def test_nothing_is_written_where_re_works_differently(self):
        with engaged():
            compiled(PATTERNS)
            with mock.patch.object(compiled_patterns, '_compile'):
                compiled_patterns.release()
        self.assertFalse(os.path.exists(self.file))
