"""Loads the only plugin we use: bgutil-ytdlp-pot-provider, pinned with the engine.

It calls the operator's PO token provider through the parent's loopback port.
"""

import dataclasses
import sys

_EXTRACTOR = 'youtubepot-bgutilhttp'


def engage(port):
    """Registers the plugin. Returns its version, or None if it can't be loaded, and the extractor arguments of each job."""
    try:
        from yt_dlp_plugins.extractor import getpot_bgutil_http as plugin
    except Exception as error:
        print(f"the PO token plugin can't be loaded: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        return None, {}
    request_pot = plugin.BgUtilHTTPPTP._real_request_pot

    def request_without_our_proxy(self, request):
        # The provider can't reach our proxy and must not get its credentials.
        return request_pot(self, dataclasses.replace(request, request_proxy=None))

    plugin.BgUtilHTTPPTP._real_request_pot = request_without_our_proxy
    return plugin.BgUtilHTTPPTP.PROVIDER_VERSION, {_EXTRACTOR: {'base_url': [f'http://127.0.0.1:{port}']}}
