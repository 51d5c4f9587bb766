"""Replaces the default certificate authorities with the parent's list."""

import os


def engage(path):
    """`path`: a PEM file with all of them. Call before importing yt_dlp."""
    # OpenSSL and curl_cffi check this first.
    os.environ['SSL_CERT_FILE'] = path
    try:
        import certifi
    except ImportError:
        # Without certifi, yt-dlp uses OpenSSL's default.
        return
    certifi.where = lambda: path
