# curl exits with an error if the request fails (-f) or the stream breaks off
curl -sS -f -G -o audio.mp3 "$BASE_URL/api/stream" --data-urlencode "url=$VIDEO_URL"
