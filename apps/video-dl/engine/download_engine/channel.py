"""The line channel to the parent process, kept apart from everything yt-dlp prints."""

import json
import os
import queue
import signal
import sys
import threading
import time

_INTERRUPT_INTERVAL_SECONDS = 0.05
# sysexits.h: a protocol error.
_BROKEN_CHANNEL = 76


class JobCancelled(BaseException):
    """Raised inside a running job; not an Exception, so that no extractor swallows it."""


class Channel:
    """JSON lines in and out; runs with the job in the main thread, the reader in another.

    A cancel message interrupts the job by a signal, because a signal also ends a
    system call that blocks (a connect, a read), which a flag would not.
    """

    def __init__(self):
        # The parent's stdout becomes a private descriptor; whatever prints to
        # stdout from here on lands in stderr, the parent's log.
        self._out = os.fdopen(os.dup(1), 'w', encoding='utf-8', errors='replace', newline='\n')
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        self._in = os.fdopen(os.dup(0), 'r', encoding='utf-8')
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        self._jobs = queue.Queue()
        self._running = None
        self._waiting = set()
        self._cancelled = set()
        self._main_thread = threading.main_thread().ident
        signal.signal(signal.SIGUSR1, self._on_signal)
        threading.Thread(target=self._read, name='channel', daemon=True).start()

    def send(self, message):
        self._out.write(json.dumps(message, ensure_ascii=False, allow_nan=False) + '\n')
        self._out.flush()

    def next_job(self):
        """Waits for the next job and returns (id, job)."""
        return self._jobs.get()

    def run(self, job_id, work):
        """Calls work() so that a cancel message for job_id raises JobCancelled in it.

        No lock: an exception raised by a signal could leave one held. The order
        matters instead: we set running and then look at cancelled, the reader
        sets cancelled and then looks at running, so one of the two sees the other.
        """
        try:
            self._running = job_id
            self._waiting.discard(job_id)
            if job_id in self._cancelled:
                raise JobCancelled
            result = work()
            self._running = None
            return result
        finally:
            # Interruptions are too far apart for a second one to hit this line.
            self._running = None
            self._cancelled.discard(job_id)

    def _read(self):
        try:
            for line in self._in:
                if line.strip():
                    self._receive(json.loads(line))
        except Exception as error:
            # Without its reader the process would look alive and hear nothing.
            print(f'the channel to the parent is broken: {type(error).__name__}', file=sys.stderr, flush=True)
            os._exit(_BROKEN_CHANNEL)
        # The parent is gone: nobody is left to answer, so a job is not finished.
        os._exit(0)

    def _receive(self, message):
        if message['type'] == 'run':
            self._waiting.add(message['id'])
            self._jobs.put((message['id'], message['job']))
        elif message['type'] == 'cancel':
            self._cancel(message['id'])
        else:
            raise ValueError('a message of an unknown type')

    def _cancel(self, job_id):
        if job_id != self._running and job_id not in self._waiting:
            return  # It has ended meanwhile.
        self._cancelled.add(job_id)
        if self._running == job_id:
            threading.Thread(target=self._interrupt_until_ended, args=(job_id,), daemon=True).start()

    def _interrupt_until_ended(self, job_id):
        # Once is not always enough: Python ignores what is raised in a finalizer.
        while self._running == job_id and job_id in self._cancelled:
            signal.pthread_kill(self._main_thread, signal.SIGUSR1)
            time.sleep(_INTERRUPT_INTERVAL_SECONDS)

    def _on_signal(self, _signum, _frame):
        # Python runs this in the main thread, perhaps after the job has ended.
        if self._running is not None and self._running in self._cancelled:
            raise JobCancelled
