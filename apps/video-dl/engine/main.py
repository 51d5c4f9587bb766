"""Entry point of the download engine. Takes its options as JSON, and communicates over stdin and stdout."""

import json
import sys

from download_engine.jobs import serve

if __name__ == '__main__':
    serve(json.loads(sys.argv[1]))
