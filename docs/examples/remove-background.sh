curl -sS -f -o cutout.png.part -F file=@photo.jpg -F feather=1.5 "$BASE_URL/api/remove-background"
mv cutout.png.part cutout.png
