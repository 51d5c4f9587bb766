import json
import os
import urllib.error
import urllib.parse
import urllib.request

query = urllib.parse.urlencode({"url": os.environ["VIDEO_URL"]})
try:
    with urllib.request.urlopen(f"{os.environ['BASE_URL']}/api/info?{query}") as response:
        info = json.load(response)
except urllib.error.HTTPError as error:
    problem = json.load(error)
    raise SystemExit(f"{problem['code']}: {problem['detail']}")

print(info["title"], info["duration"])
for download in info["downloads"]:
    print(download["target"], download["estimatedBytes"])
