# fmt is mp4-720 or mp4-1080
curl -sS -f -G -o video.mp4 "$BASE_URL/api/stream/video" --data-urlencode "url=$VIDEO_URL" -d fmt=mp4-720
