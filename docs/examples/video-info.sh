curl -sS -f -G "$BASE_URL/api/info" --data-urlencode "url=$VIDEO_URL"
