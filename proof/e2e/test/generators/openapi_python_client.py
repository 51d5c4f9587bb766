"""Calls a server with the client of openapi-python-client: info, a stream, a cut-out, an error."""
import sys

from media_services_client import Client
from media_services_client.api.images import remove_background
from media_services_client.api.videos import get_info, stream_audio
from media_services_client.models import Problem, RemoveBackgroundBody, RemoveBackgroundBodyFormat, VideoInfo
from media_services_client.types import File

server, page, photo = sys.argv[1:]
client = Client(base_url=server, timeout=120)

info = get_info.sync(client=client, url_query=page)
assert isinstance(info, VideoInfo), info
print(info.title)

audio = stream_audio.sync_detailed(client=client, url_query=page)
print(audio.content[:3].decode())

with open(photo, "rb") as image:
    body = RemoveBackgroundBody(
        file=File(image, "photo.jpg", "image/jpeg"),
        feather=1.5,
        crop=True,
        format_=RemoveBackgroundBodyFormat.WEBP,
    )
    print(remove_background.sync_detailed(client=client, body=body).content[8:12].decode())

problem = get_info.sync(client=client, url_query="ftp://nowhere")
assert isinstance(problem, Problem), problem
print(problem.code)
