curl -sS -f -o cutout.png -F file=@photo.jpg -F feather=1.5 "$BASE_URL/api/remove-background"
