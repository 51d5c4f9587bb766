"""The loop of the engine: warm up, say so, then one job after the other."""

import gc
import time
import urllib.parse

from . import environment, lockdown
from .channel import Channel, JobCancelled


def serve():
    """Runs until the parent closes our input."""
    channel = Channel()
    environment.prepare()
    # Imported here: it takes seconds, and the environment has to be set before.
    from . import downloader, selftest
    downloader.share_tls_contexts()
    description = environment.describe()
    lockdown.engage()
    selftest.run()
    # What the import made lives as long as the process: spare the collector its walk.
    gc.collect()
    gc.freeze()
    channel.send({'type': 'ready', **description})
    while True:
        job_id, job = channel.next_job()
        channel.send({'id': job_id, **_answer(channel, job_id, job)})


def _answer(channel, job_id, job):
    from . import downloader, failures
    log = downloader.Log()
    try:
        return {'ok': True, 'result': channel.run(job_id, lambda: _run(job, log))}
    except JobCancelled:
        return {'ok': False, 'error': {'kind': 'JobCancelled', 'kinds': ['JobCancelled'], 'message': 'cancelled'}}
    except (Exception, RecursionError) as error:
        return {'ok': False, 'error': failures.describe(error, log.warnings)}
    finally:
        lockdown.allow_only()


def _run(job, log):
    from . import selftest
    if job['kind'] == 'health':
        selftest.run()
        return {'kind': 'health', **environment.describe()}
    return {'kind': 'extraction', **_extract(job, log)}


def _extract(job, log):
    from . import downloader, result
    started = time.monotonic()
    proxy = urllib.parse.urlsplit(job['proxyUrl'])
    lockdown.allow_only((proxy.hostname, proxy.port))
    ydl = downloader.build(job, log)
    try:
        info = ydl.extract_info(job['url'], download=False)
        if info is None:
            raise RuntimeError('yt-dlp returned nothing')
        return {**result.describe(ydl, info, job['targets']),
                'elapsed_ms': round((time.monotonic() - started) * 1000, 1)}
    finally:
        close = getattr(ydl, 'close', None)
        if close:
            close()
