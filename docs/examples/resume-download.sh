# Wherever /api/info names exactBytes, a download that broke goes on where its file ends:
# run the same line again.
curl -sS -f -C - -G -o video.mp4 "$BASE_URL/api/stream/video" --data-urlencode "url=$VIDEO_URL" -d fmt=mp4-720

# wget needs the address encoded, and goes on by itself when the connection breaks.
page=$(python3 -c 'import sys, urllib.parse; print(urllib.parse.quote(sys.argv[1], safe=""))' "$VIDEO_URL")
wget -nv -c -O audio.mp3 "$BASE_URL/api/stream?url=$page"
