const sampleVideo = 'https://www.youtube.com/watch?v=jNQXAC9IVRw';

type Line = readonly [name: string, value: string];

/** The text that `npm start` shows once everything runs. */
export function panel(options: {
  readonly url: string;
  /** The services that run, by the URL of their metrics. */
  readonly metricsUrls: Readonly<Record<string, string>>;
  /** Undefined if logs are shown in the terminal. */
  readonly logsDir: string | undefined;
  readonly readyAfterSeconds: number;
}): string {
  const { url, logsDir, metricsUrls, readyAfterSeconds } = options;
  const video = (options: string, path: string) =>
    `curl ${options} '${url}${path}' --data-urlencode 'url=${sampleVideo}'`;
  const commands: Readonly<Record<string, readonly Line[]>> = {
    'video-dl': [
      ['Video details', video('-G', '/api/info')],
      ['MP3', video('-fG -o audio.mp3', '/api/stream')],
      ['MP4, 720p', video('-fG -o video-720.mp4', '/api/stream/video')],
      ['MP4, 1080p', `${video('-fG -o video-1080.mp4', '/api/stream/video')} -d fmt=mp4-1080`],
    ],
    'bg-removal': [
      ['Remove background', `curl -f -o cutout.png -F file=@photo.jpg ${url}/api/remove-background`],
    ],
  };
  const lines: readonly Line[] = [
    ['', ''],
    [`media-services runs at ${url}  (ready after ${readyAfterSeconds} s)`, ''],
    ['', ''],
    ['Web page', `${url}/`],
    ['API docs', `${url}/docs/`],
    ['Health', `curl ${url}/api/health`],
    ['', ''],
    ...Object.keys(metricsUrls).flatMap((service) => commands[service] ?? []),
    ['', ''],
    ['Metrics', Object.values(metricsUrls).join('  ')],
    ['Logs', logsDir ?? 'below, because LOG is set'],
    ['Stop', 'Ctrl-C'],
    ['', ''],
  ];
  return lines
    .map(([name, value]) => (value === '' ? `  ${name}`.trimEnd() : `  ${name.padEnd(18)} ${value}`))
    .join('\n');
}
