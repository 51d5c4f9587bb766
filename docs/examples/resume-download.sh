# If /api/info states exactBytes, run the same lines again to resume a download that broke off.
curl -sS -f -C - -G -o video.mp4.part "$BASE_URL/api/stream/video" --data-urlencode "url=$VIDEO_URL" -d fmt=mp4-720
mv video.mp4.part video.mp4

# wget needs the URL encoded, and resumes by itself if the connection breaks.
page=$(python3 -c 'import sys, urllib.parse; print(urllib.parse.quote(sys.argv[1], safe=""))' "$VIDEO_URL")
wget -nv -c -O audio.mp3.part "$BASE_URL/api/stream?url=$page"
mv audio.mp3.part audio.mp3
