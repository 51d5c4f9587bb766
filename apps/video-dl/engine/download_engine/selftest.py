"""Extracts a page that this process serves itself, to prove that extraction works."""

import http.server
import threading

from . import lockdown

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
        """Logs nothing, since health checks are frequent."""


class SelfTest:
    """Opens its port once, before the process is locked down."""

    def __init__(self):
        self._server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), _Handler)
        self._server.daemon_threads = True
        self.address = self._server.server_address[:2]

    def start(self):
        """Serves the page from now on. Call after the process is locked down, which covers only one thread."""
        # Without an interval, the server waits for requests instead of polling.
        threading.Thread(target=self._server.serve_forever, kwargs={'poll_interval': None}, daemon=True).start()

    def run(self):
        """Raises if the result for the built-in page is wrong."""
        from . import downloader
        job = {'proxyUrl': '', 'socketTimeoutSeconds': 5, 'targets': {'mp4': {'format': 'bv*+ba/b', 'sort': ['res:720']}}}
        lockdown.allow_only(self.address)
        ydl = downloader.build(job, downloader.Log())
        ydl.extract_info('http://%s:%s/' % self.address, download=False)
        lockdown.allow_only()
        found = ydl.described
        if found['title'] != 'Built-in page' or found['selections'] != {'mp4': [0]}:
            raise RuntimeError(f'wrong result for the built-in page: {found}')
