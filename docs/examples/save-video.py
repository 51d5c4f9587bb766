import os
import shutil
import urllib.parse
import urllib.request

query = urllib.parse.urlencode({"url": os.environ["VIDEO_URL"], "fmt": "mp4-720"})
with urllib.request.urlopen(f"{os.environ['BASE_URL']}/api/stream/video?{query}") as response:
    # Raises if the stream breaks off, so a file without an error is complete.
    with open("video.mp4", "wb") as file:
        shutil.copyfileobj(response, file)
