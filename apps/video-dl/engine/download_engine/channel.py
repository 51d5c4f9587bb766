"""The line channel to the parent process, separate from everything yt-dlp prints."""

import json
import os
import queue
import signal
import sys
import threading

_INTERRUPT_INTERVAL_SECONDS = 0.05
# sysexits.h: a protocol error.
_BROKEN_CHANNEL = 76


class JobCancelled(BaseException):
    """Raised inside a running job. Not an Exception, so that no extractor swallows it."""


class Channel:
    """JSON lines in and out. Jobs run in the main thread, the reader in another.

    A cancel message interrupts the job with a signal, because unlike a flag, a signal
    also interrupts blocking system calls (connect, read).
    """

    def __init__(self):
        # The original stdout becomes a private descriptor. Anything printed to stdout
        # from here on goes to stderr, the parent's log.
        self._out = os.fdopen(os.dup(1), 'w', encoding='utf-8', errors='replace', newline='\n')
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        self._in = os.fdopen(os.dup(0), 'r', encoding='utf-8')
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        # (id, job) of each job that waits.
        self.jobs = queue.Queue()
        # Ids of jobs. The parent sends one job at a time.
        self._running = None
        self._cancelled = None
        signal.signal(signal.SIGALRM, self._on_alarm)
        threading.Thread(target=self._read, name='channel', daemon=True).start()

    def send(self, message):
        self._out.write(json.dumps(message, ensure_ascii=False, allow_nan=False) + '\n')
        self._out.flush()

    def run(self, job_id, work):
        """Calls work(). A cancel message for job_id raises JobCancelled in it.

        Uses no lock, because an exception raised by a signal could leave it held. The
        order matters instead: this method sets running, then checks cancelled; the reader
        sets cancelled, then sends the signal that checks running. So at least one of them
        sees the other's write.
        """
        try:
            self._running = job_id
            if job_id == self._cancelled:
                raise JobCancelled
            result = work()
            self._running = None
            return result
        finally:
            # The interval between interrupts is too long for a second one to hit this line.
            self._running = None

    def _read(self):
        try:
            for line in self._in:
                if line.strip():
                    self._receive(json.loads(line))
        except Exception as error:
            # Without its reader, the process would look alive but receive nothing.
            print(f'the channel to the parent is broken: {type(error).__name__}', file=sys.stderr, flush=True)
            os._exit(_BROKEN_CHANNEL)
        # The parent has exited, so there is no point in finishing a job.
        os._exit(0)

    def _receive(self, message):
        if message['type'] == 'run':
            self._cancelled = None
            self.jobs.put((message['id'], message['job']))
        elif message['type'] == 'cancel':
            self._cancelled = message['id']
            signal.pthread_kill(threading.main_thread().ident, signal.SIGALRM)
        else:
            raise ValueError('unknown message type')

    def _on_alarm(self, _signum, _frame):
        # Runs in the main thread, possibly before the job has started or after it has ended.
        if self._running is not None and self._running == self._cancelled:
            # Once isn't always enough: Python ignores exceptions raised in a finalizer.
            signal.setitimer(signal.ITIMER_REAL, _INTERRUPT_INTERVAL_SECONDS)
            raise JobCancelled
