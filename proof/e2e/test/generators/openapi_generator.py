"""Calls a server with the Python client of openapi-generator: info, a stream, a cut-out, an error."""
import json
import sys

from openapi_client import ApiClient, Configuration
from openapi_client.api import ImagesApi, VideosApi
from openapi_client.exceptions import ApiException

server, page, photo = sys.argv[1:]
with ApiClient(Configuration(host=server)) as client:
    videos = VideosApi(client)
    print(videos.get_info(page).title)
    print(bytes(videos.stream_audio(page)[:3]).decode())
    with open(photo, "rb") as image:
        file = ("photo.jpg", image.read())
    # Only text: this generator's client fails on numbers and booleans in any multipart form.
    cutout = ImagesApi(client).remove_background(file=file, channels="rgba", bg_color="red", format="webp")
    print(bytes(cutout[8:12]).decode())
    try:
        videos.get_info("ftp://nowhere")
    except ApiException as error:
        print(json.loads(error.body)["code"])
