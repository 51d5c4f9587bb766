import os
import urllib.request
import uuid

with open("photo.jpg", "rb") as file:
    image = file.read()

boundary = uuid.uuid4().hex
body = (
    f"--{boundary}\r\n"
    'Content-Disposition: form-data; name="file"; filename="photo.jpg"\r\n'
    "Content-Type: image/jpeg\r\n\r\n"
).encode() + image + f"\r\n--{boundary}--\r\n".encode()

request = urllib.request.Request(
    f"{os.environ['BASE_URL']}/api/remove-background",
    data=body,
    headers={"Content-Type": f"multipart/form-data; boundary={boundary}"},
)
with urllib.request.urlopen(request) as response, open("cutout.png", "wb") as file:
    file.write(response.read())
