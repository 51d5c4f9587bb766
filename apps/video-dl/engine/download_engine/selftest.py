"""Extracts a page that this process serves to itself: proof that extraction works."""

import contextlib
import http.server
import threading

from . import downloader, lockdown, result

_PAGE = b'''<!DOCTYPE html><html><head><title>Built-in page</title></head>
<body><video src="/media.mp4"></video></body></html>'''


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Type', 'text/html; charset=utf-8')
        self.send_header('Content-Length', str(len(_PAGE)))
        self.end_headers()
        self.wfile.write(_PAGE)

    def log_message(self, *_args):
        """Says nothing: a health check is not news."""


@contextlib.contextmanager
def _page():
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), _Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={'poll_interval': 0.02}, daemon=True)
    thread.start()
    try:
        yield server.server_address[:2]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def run():
    """Raises when the built-in page does not come out as it should."""
    targets = {'mp4': {'format': 'bv*+ba/b', 'sort': ['res:720']}}
    with _page() as address:
        lockdown.allow_only(address)
        job = {'proxyUrl': '', 'socketTimeoutSeconds': 5, 'targets': targets}
        ydl = downloader.build(job, downloader.Log())
        try:
            info = ydl.extract_info(f'http://{address[0]}:{address[1]}/', download=False)
            found = result.describe(ydl, info, targets)
        finally:
            lockdown.allow_only()
    if found['title'] != 'Built-in page' or found['selections'] != {'mp4': [0]}:
        raise RuntimeError(f'the built-in page was extracted wrongly: {found}')
