import { parseArgs } from 'node:util';
import { z } from 'zod';

export const usage = `Usage:
  media-services video URL [--mp3 | --mp4 720|1080] [--output FOLDER]
  media-services cutout FOLDER [--output FOLDER] [--threshold 0-255] [--feather 0-24] [--strength 0.5-2]

video   saves the MP4 (720p unless told otherwise) or MP3 of a page's video.
cutout  cuts the subject out of every JPEG, PNG and WebP in a folder, as fast as the server
        allows, into FOLDER/cutouts; those that are there already are left alone.

  --output FOLDER   where to write; for video the current folder unless given
  --server URL      the gateway's URL, or MEDIA_SERVICES_URL; http://127.0.0.1:8080 unless given
  --key KEY         where the server asks for one; better as MEDIA_SERVICES_KEY, which no process list shows
  --quiet           no progress
  --help            this

Exit codes: 0 done, 1 some images failed, 2 wrong usage, 3 refused (trying again will not help),
4 not now (unreachable, busy or broken off: try again later), 130 interrupted.
`;

/** The command line makes no sense; the message says why. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

interface Common {
  readonly server: string;
  readonly key?: string | undefined;
  readonly output?: string | undefined;
  readonly quiet: boolean;
}

export type Command =
  | { readonly name: 'help' }
  | (Common & {
      readonly name: 'video';
      readonly url: string;
      readonly format: 'mp3' | 'mp4-720' | 'mp4-1080';
    })
  | (Common & {
      readonly name: 'cutout';
      readonly folder: string;
      readonly threshold?: number | undefined;
      readonly feather?: number | undefined;
      readonly foregroundStrength?: number | undefined;
    });

const number = (name: string, low: number, high: number) =>
  z
    .string()
    .transform(Number)
    .refine((value) => value >= low && value <= high, { error: `--${name} must be from ${low} to ${high}` })
    .optional();

const optionsSchema = z.object({
  mp3: z.boolean().default(false),
  mp4: z.enum(['720', '1080'], { error: '--mp4 must be 720 or 1080' }).optional(),
  output: z.string().optional(),
  server: z.url({ protocol: /^https?$/, error: '--server must be an http or https URL' }),
  key: z.string().min(1).optional(),
  threshold: number('threshold', 0, 255),
  feather: number('feather', 0, 24),
  strength: number('strength', 0.5, 2),
  quiet: z.boolean().default(false),
  help: z.boolean().default(false),
});

/** @throws UsageError */
export function parseCommand(args: readonly string[], env: NodeJS.ProcessEnv): Command {
  const { values, positionals } = parsed(args);
  if (values.help === true || positionals.length === 0) return { name: 'help' };
  const checked = optionsSchema.safeParse({
    ...values,
    server: values.server ?? (env.MEDIA_SERVICES_URL || 'http://127.0.0.1:8080'),
    key: values.key ?? (env.MEDIA_SERVICES_KEY || undefined),
  });
  if (!checked.success) throw new UsageError(checked.error.issues.map(({ message }) => message).join('\n'));
  const options = checked.data;
  const [name, target, ...more] = positionals;
  if (target === undefined || more.length > 0) throw new UsageError(`${name ?? ''} takes one argument.`);
  if (name === 'video') {
    if (options.mp3 && options.mp4 !== undefined) throw new UsageError('--mp3 and --mp4 exclude each other.');
    return { ...options, name, url: target, format: options.mp3 ? 'mp3' : `mp4-${options.mp4 ?? '720'}` };
  }
  if (name === 'cutout') return { ...options, name, folder: target, foregroundStrength: options.strength };
  throw new UsageError(`There is no command ${name ?? ''}.`);
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        mp3: { type: 'boolean' },
        mp4: { type: 'string' },
        output: { type: 'string', short: 'o' },
        server: { type: 'string' },
        key: { type: 'string' },
        threshold: { type: 'string' },
        feather: { type: 'string' },
        strength: { type: 'string' },
        quiet: { type: 'boolean', short: 'q' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
