"""Entry point of the download engine. Communicates over stdin and stdout."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from download_engine.jobs import serve  # noqa: E402  (the path has to be set first)

if __name__ == '__main__':
    serve(sys.argv[1:])
