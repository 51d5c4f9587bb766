#!/bin/sh
# Starts video-dl. With YTDLP_UPDATE_ON_START=true the newest yt-dlp is put in front of
# the one in the image first: sites change faster than images are built. It is then
# whatever PyPI has, no longer the version pinned by hash; hence off by default.
set -eu

update_dir=${YTDLP_UPDATE_DIR:-/tmp/yt-dlp-update}

if [ "${YTDLP_UPDATE_ON_START:-false}" = true ]; then
  # Without dependencies: yt-dlp and its scripts are plain Python, which a
  # read-only container can load from a tmpfs that forbids programs.
  if timeout 120 "$YTDLP_PYTHON" -m pip install --quiet --disable-pip-version-check --no-cache-dir \
    --no-deps --only-binary=:all: --upgrade --target "$update_dir" yt-dlp yt-dlp-ejs >&2 \
    && PYTHONPATH=$update_dir "$YTDLP_PYTHON" -c 'import yt_dlp' >&2; then
    export PYTHONPATH="$update_dir"
  else
    echo 'YTDLP_UPDATE_ON_START: the update failed; starting with the yt-dlp of the image.' >&2
  fi
fi

exec "$@"
