#!/bin/sh
# Builds Debian's ffmpeg, with Debian's patches, but only with the features that video-dl allows.
# Debian's build depends on 230 MB of libraries for displays, sound cards and codecs that we don't
# use. The demuxers and decoders are those of apps/video-dl/src/ffmpeg/inputs.ts. build-ffmpeg.sh
# FOLDER   puts ffmpeg and ffprobe into FOLDER
set -eu
folder=$1

find /etc/apt -name '*.sources' -exec sed -i 's/^Types: deb$/Types: deb deb-src/' {} +
find /etc/apt -name '*.list' -exec sed -i 's/^deb \(.*\)/&\ndeb-src \1/' {} +
apt-get update
apt-get install -y --no-install-recommends dpkg-dev gcc libc6-dev make nasm pkgconf xz-utils \
  libdav1d-dev libmp3lame-dev libx264-dev libzimg-dev zlib1g-dev
cd "$(mktemp -d)"
apt-get source ffmpeg
cd ffmpeg-*/

demuxers=aac,ac3,aiff,amr,ape,asf,au,avi,caf,dsf,dts,dv,eac3,flac,flv,iff,ivf,matroska,mov,mp3,mpc,mpc8,mpegps,mpegts,mxf,ogg,tak,tta,w64,wav,wv
video=av1,cinepak,dnxhd,dvvideo,ffv1,ffvhuff,flv,h263,h263p,h264,hevc,huffyuv,indeo3,indeo4,indeo5,libdav1d,mjpeg,mpeg1video,mpeg2video,mpeg4,mpegvideo,msmpeg4v1,msmpeg4v2,msmpeg4v3,msrle,msvideo1,prores,qtrle,rawvideo,rpza,smc,svq1,svq3,theora,vc1,vp3,vp6,vp6a,vp6f,vp8,vp9,wmv1,wmv2,wmv3
audio=aac,aac_fixed,aac_latm,ac3,ac3_fixed,adpcm_ima_qt,adpcm_ima_wav,adpcm_ms,adpcm_swf,alac,amrnb,amrwb,ape,dca,dsd_lsbf,dsd_lsbf_planar,dsd_msbf,dsd_msbf_planar,eac3,flac,gsm,gsm_ms,mlp,mp1,mp1float,mp2,mp2float,mp3,mp3float,mpc7,mpc8,nellymoser,opus,qdm2,speex,tak,truehd,tta,vorbis,wavpack,wmalossless,wmapro,wmav1,wmav2,wmavoice
pcm=pcm_alaw,pcm_bluray,pcm_dvd,pcm_f32be,pcm_f32le,pcm_f64be,pcm_f64le,pcm_mulaw,pcm_s16be,pcm_s16le,pcm_s24be,pcm_s24le,pcm_s32be,pcm_s32le,pcm_s8,pcm_u16be,pcm_u16le,pcm_u8
# Filters in our arguments, filters that ffmpeg inserts itself (formats, rotation, frame rates),
# and the test signal.
filters=aformat,anull,anullsrc,aresample,asetpts,asettb,atrim,color,concat,copy,crop,format,fps,hflip,null,pad,pan,rotate,scale,select,setparams,setpts,settb,sine,split,testsrc2,tonemap,transpose,trim,vflip,volume,zscale

version=$(dpkg-parsechangelog --show-field Version)
./configure --prefix=/usr --extra-version="${version#*-}+media-services" \
  --enable-gpl --disable-autodetect --disable-debug --disable-doc --disable-ffplay --disable-everything \
  --enable-libdav1d --enable-libmp3lame --enable-libx264 --enable-libzimg --enable-zlib \
  --enable-protocol=file,http,pipe,tcp --enable-indev=lavfi --enable-demuxer="$demuxers,image_webp_pipe,ffmetadata" \
  --enable-decoder="$video,$audio,$pcm,webp,wrapped_avframe" --enable-encoder=aac,libmp3lame,libx264,mjpeg,pcm_s16le,rawvideo,wrapped_avframe \
  --enable-muxer=adts,framecrc,image2pipe,mov,mp3,mp4,null,ogg,wav --enable-filter="$filters" --enable-bsfs --enable-parsers
make -j"$(nproc)"
mkdir -p "$folder"
install -s ffmpeg ffprobe "$folder"
