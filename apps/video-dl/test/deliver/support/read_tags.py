"""Prints the title, author and cover's SHA-256 of an audio file, as Mutagen reads them; null without Mutagen."""
import base64
import hashlib
import json
import sys

try:
    from mutagen import File
    from mutagen.flac import Picture
    from mutagen.id3 import ID3
    from mutagen.mp4 import MP4Tags
except ImportError:
    print('null')
    sys.exit()

tags = File(sys.argv[1]).tags
if isinstance(tags, ID3):
    title, author, cover = tags['TIT2'][0], tags['TPE1'][0], tags.getall('APIC')[0].data
elif isinstance(tags, MP4Tags):
    title, author, cover = tags['\xa9nam'][0], tags['\xa9ART'][0], bytes(tags['covr'][0])
else:
    title, author = tags['title'][0], tags['artist'][0]
    cover = Picture(base64.b64decode(tags['metadata_block_picture'][0])).data
print(json.dumps({'title': title, 'author': author, 'coverSha256': hashlib.sha256(cover).hexdigest()}))
