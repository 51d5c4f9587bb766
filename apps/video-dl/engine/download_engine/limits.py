"""Limits for one page: memory, requests, bytes, and the size of its result.

The parent checks the result again: src/extract/engine-messages.ts has the same values.
"""

import gc
import subprocess
import sys
import traceback

# More than any known site needs. YouTube takes about 12.
REQUESTS = 100
# For all responses of a job, after decompression.
PAGE_BYTES = 64 * 1024 * 1024

FORMATS = 500
FRAGMENTS = 20_000
HEADERS = 50
WARNINGS = 20
TEXT_CHARACTERS = 1_000
DESCRIPTION_CHARACTERS = 20_000
URL_CHARACTERS = 8_192
HEADER_CHARACTERS = 8_192
COOKIES = 100
COOKIE_CHARACTERS = 4_096
ITEMS = 50
LANGUAGES = 50
CHAPTERS = 250
SUBTITLES = 200
# URLs of a page's cover, tried in this order.
COVERS = 4
# For a playlist that is part of the page instead of at a URL.
PLAYLIST_CHARACTERS = 1024 * 1024
# For the JSON of a result, which the parent parses in one step.
RESULT_CHARACTERS = 2 * 1024 * 1024

# V8 alone reserves about 500 MB; solving YouTube's player takes another 300 MB.
_RUNTIME_BYTES = 1536 * 1024 * 1024
# Memory for cleaning up after an out-of-memory error.
_RESERVE_BYTES = 32 * 1024 * 1024
# With less, yt-dlp can't be imported.
_MIN_BYTES = 192 * 1024 * 1024


class LimitError(BaseException):
    """A page exceeds a limit. Not an Exception, so that no extractor ignores it. The parent describes each class."""


class PageTooLargeError(LimitError):
    """The page and those it links to have too many bytes."""


class TooManyRequestsError(LimitError):
    """The page causes too many requests."""


class ResultTooLargeError(LimitError):
    """The page lists too many media."""


class OutOfMemoryError(LimitError):
    """The page exceeds the memory limit."""


class Budget:
    """The remaining requests and bytes of one job."""

    def __init__(self):
        self._requests = REQUESTS
        self._bytes = PAGE_BYTES

    def count_request(self):
        self._requests -= 1
        if self._requests < 0:
            raise TooManyRequestsError

    def bound(self, response):
        """Counts the bytes read from `response` and raises once they exceed the budget."""
        read = response.read

        def bounded(amount=None):
            if amount is not None and amount >= 0:
                return self._take(read(min(amount, self._bytes + 1)))
            parts = []
            while part := self._take(read(self._bytes + 1)):
                parts.append(part)
            return b''.join(parts)

        response.read = bounded

    def _take(self, data):
        self._bytes -= len(data)
        if self._bytes < 0:
            raise PageTooLargeError
        return data


_own_bytes = 0


def limit_memory(max_bytes):
    """Limits the data of this process from now on; 0 for no limit.

    An allocation above the limit raises a MemoryError in the job. Child processes (deno) have
    a separate limit, because V8 reserves more than it uses.
    """
    global _own_bytes
    if max_bytes <= 0 or sys.platform != 'linux':
        return
    _own_bytes = max(max_bytes, _MIN_BYTES)
    start = subprocess.Popen.__init__

    def start_with_separate_limit(*args, **kwargs):
        _set_data_limit(max(_RUNTIME_BYTES, _own_bytes))
        try:
            start(*args, **kwargs)
        finally:
            _set_data_limit(_own_bytes)

    subprocess.Popen.__init__ = start_with_separate_limit
    _set_data_limit(_own_bytes)


def within_memory(work):
    """Calls work(). If memory runs out, frees what it allocated and raises OutOfMemoryError."""
    try:
        return work()
    except MemoryError as error:
        _set_data_limit(_own_bytes + _RESERVE_BYTES)
        traceback.clear_frames(error.__traceback__)
    # Outside the handler, which keeps the error and its frames alive.
    gc.collect()
    _set_data_limit(_own_bytes)
    raise OutOfMemoryError


def _set_data_limit(soft):
    if _own_bytes:
        import resource
        resource.setrlimit(resource.RLIMIT_DATA, (soft, max(_RUNTIME_BYTES, _own_bytes + _RESERVE_BYTES)))
