# fmt is mp4-720 or mp4-1080. Only a complete file gets its name.
curl -sS -f -G -o video.mp4.part "$BASE_URL/api/stream/video" --data-urlencode "url=$VIDEO_URL" -d fmt=mp4-720
mv video.mp4.part video.mp4
