import { heightOptions } from './option-values.js';

export const usage = `Usage:
  media-services video URL… [-a FILE] [${heightOptions.join(' | ')} | --mp3 | --original] [--item N | --items all]
                             [--start TIME] [--end TIME] [--chapter N] [--lang LANGUAGE] [--subtitles LANGUAGES]
                             [-o FOLDER|FILE|-]
  media-services cutout IMAGE|FOLDER|-… [--recursive] [--format png|webp|jpg] [--background COLOR]
                                        [--crop] [-o FOLDER|FILE|-]
  media-services cutout --url URL
  media-services info URL [--item N] [--start TIME] [--end TIME] [--chapter N] [--json]
  media-services sign URL [--1080 | --mp3 | --original] [--lang LANGUAGE] [--hours N]
  media-services completion bash|zsh|fish

Commands:
  video       save the video of a page as MP4 (720p by default), or its audio
  cutout      remove the background of JPEG, PNG and WebP images
  info        show what is on a page and what each download will be
  sign        print a link that plays without the access key, for one hour
  completion  print a script that completes this command in your shell

Videos:
  ${heightOptions.join(', ').padEnd(18)}  the best MP4 up to this height
  --mp3, --original   the audio only: as MP3, or as the site has it (M4A, Opus, FLAC, …)
  -a, --batch-file FILE       the links in this file, one per line; - reads them from standard input
  --item N            take the Nth video of a page with several (info lists them)
  --items all         take all of them, or some: 1,3,5-7
  --start TIME, --end TIME    save only this clip: 90, 90.5, 1:30 or 0:01:30.5
  --chapter N         save only the Nth chapter (info lists them)
  --lang LANGUAGE     dubbed audio: de, pt-BR; en-desc describes the video (info lists what there is)
  --subtitles LANGUAGES    add subtitles to the MP4: de, or de,en (info lists what there is)
  -j, --jobs N        how many to save at once; by default as many as the server allows, up to 4

Cut-outs:
  --recursive         also the images in subfolders
  --url URL           an image on the web, if the server's operator allows it
  --format FORMAT     png, webp or jpg; by default what the output file's name says, or png
  --background COLOR  put the subject on a colour: a CSS name or hex such as #ffffff
  --crop              crop to the subject
  --crop-margin SIZE  leave a margin around it: 20px or 10%
  --mask              the matte alone, as a grey PNG
  --max-width PIXELS, --max-height PIXELS    scale larger results down
  --threshold 0-255, --feather 0-24, --strength 0.5-2    tune the edges

Output:
  Videos go to the current folder; those that are there already are skipped. The cut-out of
  photo.jpg becomes photo-cutout.png beside it; the cut-outs of a folder go to FOLDER/cutouts,
  and existing ones there are skipped.
  -o, --output PATH   write to this file or folder: film.mp4 is a file, films and films.old/ are
                      folders; - writes to standard output
  --force             replace existing files
  -q, --quiet         show no progress
  --json              print JSON: one line for each result, or what the server says (info)

Connection:
  --server URL        the server (MEDIA_SERVICES_URL; http://127.0.0.1:8080 by default)
  --key KEY           an access key; MEDIA_SERVICES_KEY keeps it out of process lists

  -h, --help          show this help
  --version           show the version

An interrupted download leaves a .part file if it can be resumed: run the same command again.

Exit codes: 0 done, 2 wrong usage, 3 something was rejected (a retry won't help),
4 something was unavailable (unreachable, busy or interrupted by the server: try again later),
5 a file can't be written (no permission, disk full), 130 interrupted.
`;
