import { execa } from 'execa';
import { z } from 'zod';

/** What a program that others wrote says of a file. */
export interface Seen {
  readonly seconds: number;
  /** Undefined if the program can't say. */
  readonly title?: string | undefined;
}

/** Opens a file, and reads it to its last frame and sample. Rejects if the program reports anything wrong. */
export type Program = (file: string) => Promise<Seen>;

const probed = z.object({
  format: z.object({ duration: z.coerce.number(), tags: z.record(z.string(), z.string()).default({}) }),
});

/** Decodes everything; ffprobe alone reads only headers. */
export const ffmpeg: Program = async (file) => {
  const { stderr } = await execa(process.env.FFMPEG_PATH || 'ffmpeg', [
    ...['-v', 'warning', '-nostdin', '-i', file, '-f', 'null', '-'],
  ]);
  expect(stderr).toBe('');
  const { stdout } = await execa('ffprobe', ['-v', 'error', '-show_format', '-of', 'json', file]);
  const { format } = probed.parse(JSON.parse(stdout));
  return { seconds: format.duration, title: format.tags['title'] };
};

const mediaTracks = z.object({
  media: z.object({
    track: z.array(
      z.object({ '@type': z.string(), Duration: z.coerce.number().optional(), Title: z.string().optional() }),
    ),
  }),
});

/** The length of the shortest track, too: a track that ends early is incomplete. */
export const mediainfo: Program = async (file) => {
  const { stdout } = await execa('mediainfo', ['--Output=JSON', file]);
  const { track } = mediaTracks.parse(JSON.parse(stdout)).media;
  const general = track.find((each) => each['@type'] === 'General');
  const lengths = track.flatMap((each) => (each['@type'] === 'Menu' ? [] : (each.Duration ?? [])));
  expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThan(0.15);
  return { seconds: general?.Duration ?? NaN, title: general?.Title };
};

/** GStreamer's own demuxers. */
export const gstreamer: Program = async (file) => {
  const decode = ['filesrc', `location=${file}`, '!', 'decodebin', 'name=d'];
  await execa('gst-launch-1.0', ['-q', ...decode, 'd.', '!', 'queue', '!', 'fakesink', 'sync=false']);
  const { stdout } = await execa('gst-discoverer-1.0', ['-v', file]);
  const [, hours = NaN, minutes = NaN, seconds = NaN] = (
    /Duration: (\d+):(\d+):([\d.]+)/.exec(stdout) ?? []
  ).map(Number);
  return { seconds: hours * 3600 + minutes * 60 + seconds, title: /title: (.*)/.exec(stdout)?.[1] };
};

/** Plays the second half, after seeking to the middle. */
export const mpv: Program = async (file) => {
  const { stdout } = await execa('mpv', [
    ...['--no-config', '--vo=null', '--ao=null', '--untimed', '--start=50%'],
    ...['--term-playing-msg=length=${=duration} title=${media-title}', file],
  ]);
  expect(stdout).toContain('(End of file)');
  const [, seconds, title] = /length=([\d.]+) title=(.*)/.exec(stdout) ?? [];
  return { seconds: Number(seconds), title };
};
