"""Puts the parent's list of certificate authorities in the place of the usual one."""

import os


def engage(path):
    """`path`: a PEM file with all of them. To be called before yt_dlp is imported."""
    # What OpenSSL and curl_cffi look for first.
    os.environ['SSL_CERT_FILE'] = path
    try:
        import certifi
    except ImportError:
        # Without it yt-dlp asks OpenSSL.
        return
    certifi.where = lambda: path
