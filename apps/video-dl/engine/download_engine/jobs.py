"""The engine's main loop: lock down, warm up, report ready, then run one job after another."""

import gc
import sys
import urllib.parse

from . import environment, kernel_lock, limits, lockdown
from .channel import Channel, JobCancelled
from .selftest import SelfTest


def serve(options):
    """Runs until the parent closes stdin. The parent's EngineProgram type documents `options`."""
    if 'packages' in options:
        sys.path.insert(0, options['packages'])
    self_test = SelfTest()
    # Before a second thread starts, which the kernel's lock wouldn't cover.
    ports = filter(None, (options['proxyPort'], options.get('potProviderPort'), self_test.address[1]))
    # `process`: only Python's own sockets are checked.
    network_lock = 'kernel' if kernel_lock.engage(ports) else 'process'
    channel = Channel()
    self_test.start()
    environment.prepare()
    if 'trustedRootsFile' in options:
        environment.trust_only(options['trustedRootsFile'])
    limits.limit_memory(options['maxMemoryBytes'])
    engine = _Engine(channel, self_test, network_lock, options.get('potProviderPort'))
    channel.send(engine.warm_up())
    engine.serve()


class _Engine:
    def __init__(self, channel, self_test, network_lock, pot_provider_port):
        self._channel = channel
        self._self_test = self_test
        self._network_lock = network_lock
        self._pot_provider_port = pot_provider_port
        self._pot_provider, self._pot_arguments = None, {}

    def warm_up(self):
        """Returns the ready message."""
        # Imported here because it takes seconds, and the environment must be set first.
        from . import dash_tracks, downloader, hls_playlists, player_cache, pot_provider, pristine, redirects
        downloader.share_tls_contexts()
        downloader.make_cookies_strict()
        dash_tracks.engage()
        hls_playlists.engage()
        redirects.engage()
        player_cache.engage()
        if self._pot_provider_port:
            self._pot_provider, self._pot_arguments = pot_provider.engage(self._pot_provider_port)
        lockdown.engage()
        # After the lock, so that it names a JavaScript runtime only if one can start.
        description = self._describe()
        self._self_test.run()
        pristine.remember()
        # Imported objects live as long as the process, so the garbage collector can skip them.
        gc.collect()
        gc.freeze()
        return {'type': 'ready', **description}

    def serve(self):
        from . import pristine
        while True:
            job_id, job = self._channel.jobs.get()
            self._channel.send({'id': job_id, **self._respond(job_id, job)})
            # After the response, so that nobody waits for it.
            pristine.restore()

    def _describe(self):
        return {**environment.describe(), 'networkLock': self._network_lock, 'potProvider': self._pot_provider}

    def _respond(self, job_id, job):
        from . import downloader, failures
        log = downloader.Log()
        try:
            return {'ok': True, 'result': self._channel.run(job_id, lambda: self._run(job, log))}
        except (Exception, JobCancelled, limits.LimitError) as error:
            return {'ok': False, 'error': failures.describe(error, log.warnings)}
        finally:
            lockdown.allow_only()

    def _run(self, job, log):
        from . import downloader
        if job['kind'] == 'health':
            self._self_test.run()
            return {'kind': 'health', **self._describe()}
        proxy = urllib.parse.urlsplit(job['proxyUrl'])
        # If there is no provider, its port is None, which matches no connection.
        lockdown.allow_only((proxy.hostname, proxy.port), ('127.0.0.1', self._pot_provider_port))
        ydl = downloader.build(job, log, {**job.get('extractorArguments', {}), **self._pot_arguments})
        try:
            limits.within_memory(lambda: ydl.extract_info(job['url'], download=False))
            return {'kind': 'extraction', **ydl.described, 'warnings': list(log.warnings)}
        finally:
            # Old versions have nothing to close.
            getattr(ydl, 'close', lambda: None)()
