"""Removes backgrounds with rembg and the graph that is the argument: a file a line on
standard input, {"ms": ...} a line on standard output."""

import json
import sys
import time

from rembg import new_session, remove

session = new_session("dis_custom", model_path=sys.argv[1])
print('{"ready":true}', flush=True)
for line in sys.stdin:
    with open(line.rstrip("\n"), "rb") as file:
        data = file.read()
    started = time.perf_counter()
    remove(data, session=session)
    print(json.dumps({"ms": (time.perf_counter() - started) * 1000}), flush=True)
