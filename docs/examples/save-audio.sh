# -f makes errors an exit code; a stream that breaks off is one too.
curl -sS -f -G -o audio.mp3 "$BASE_URL/api/stream" --data-urlencode "url=$VIDEO_URL"
