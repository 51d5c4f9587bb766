"""The one plugin that is ever loaded: bgutil-ytdlp-pot-provider, pinned with the engine.

It asks the operator's PO token provider, through the parent's loopback port.
"""

import dataclasses
import sys

from . import lockdown

_EXTRACTOR = 'youtubepot-bgutilhttp'


def engage(port):
    """Registers the plugin; returns its version, or None where it cannot be had."""
    try:
        from yt_dlp_plugins.extractor import getpot_bgutil_http as plugin
    except Exception as error:
        print(f'the PO token plugin cannot be loaded: {type(error).__name__}: {error}', file=sys.stderr, flush=True)
        return None
    request_pot = plugin.BgUtilHTTPPTP._real_request_pot

    def request_without_our_proxy(self, request):
        # The provider could not reach our proxy, whose credentials are not for it either.
        return request_pot(self, dataclasses.replace(request, request_proxy=None))

    plugin.BgUtilHTTPPTP._real_request_pot = request_without_our_proxy
    lockdown.allow_always(('127.0.0.1', port))
    return plugin.BgUtilHTTPPTP.PROVIDER_VERSION


def arguments(port):
    """yt-dlp's extractor arguments that lead the plugin to the port."""
    return {_EXTRACTOR: {'base_url': [f'http://127.0.0.1:{port}']}}
