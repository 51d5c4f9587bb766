# curl exits with an error if the request fails (-f) or the stream breaks off, so only a complete file gets its name.
curl -sS -f -G -o audio.mp3.part "$BASE_URL/api/stream" --data-urlencode "url=$VIDEO_URL"
mv audio.mp3.part audio.mp3
