import os
import subprocess
import sys
import tempfile
import unittest

_PROGRAM = """
import os, subprocess, sys
from download_engine import lockdown
lockdown.engage()
for start in (lambda: subprocess.run([sys.argv[1]]), lambda: os.posix_spawn(sys.argv[1], [sys.argv[1]], {})):
    try:
        start()
        print('started')
    except PermissionError:
        print('rejected')
"""


class LockdownTest(unittest.TestCase):
    def _starts(self, name):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, name)
            os.symlink('/bin/true', program)
            run = subprocess.run([sys.executable, '-c', _PROGRAM, program], capture_output=True, text=True, check=True)
            return run.stdout.split()

    def test_starts_javascript_runtimes_and_no_other_programs(self):
        self.assertEqual(self._starts('deno'), ['started', 'started'])
        self.assertEqual(self._starts('sh'), ['rejected', 'rejected'])
