"""Keeps pages from leading into the API of this service, where each hop would occupy an engine.

The guard does this for plain HTTP (packages/egress-guard/src/own-api.ts has the same rule); it can't see inside HTTPS.
"""

import posixpath
import re
import urllib.parse

from . import limits

_PATH = re.compile(r'/api/(?:info|stream|stream/video|remove-background)$')
_PARAMETERS = ('url', 'image_url')


class OwnApiError(limits.LimitError):
    """The page leads to an API like the one of this service."""


def check(url):
    """Raises OwnApiError for a URL of our API on any host."""
    parts = urllib.parse.urlsplit(url)
    # Without dot segments, which a client removes before it sends the request.
    path = posixpath.normpath(re.sub('/+', '/', urllib.parse.unquote(parts.path)))
    if not _PATH.search(path):
        return
    query = urllib.parse.parse_qs(parts.query, keep_blank_values=True)
    if any(name in query for name in _PARAMETERS):
        raise OwnApiError
