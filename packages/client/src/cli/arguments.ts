import { statSync } from 'node:fs';
import { basename, dirname, extname } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';

export const usage = `Usage:
  media-services video URL… [--720 | --1080 | --mp3 | --original] [--item N]
                             [--start TIME] [--end TIME] [-o FOLDER|FILE|-]
  media-services cutout IMAGE|FOLDER|-… [--format png|webp|jpg] [--background COLOR] [--crop]
                                        [-o FOLDER|FILE|-]
  media-services cutout --url URL
  media-services info URL [--item N] [--start TIME] [--end TIME] [--json]

Commands:
  video   save the video of a page as MP4 (720p by default), or its audio
  cutout  remove the background of JPEG, PNG and WebP images
  info    show what is on a page and what each download will be

Videos:
  --720, --1080       the best MP4 up to this height
  --mp3, --original   the audio only: as MP3, or as the site has it (M4A, Opus, FLAC, …)
  --item N            take the Nth video of a page with several (info lists them)
  --start TIME, --end TIME    save only this clip: 90, 90.5, 1:30 or 0:01:30.5

Cut-outs:
  --url URL           an image on the web, if the server's operator allows it
  --format FORMAT     png, webp or jpg; by default what the output file's name says, or png
  --background COLOR  put the subject on a colour: a CSS name or hex such as #ffffff
  --crop              crop to the subject
  --crop-margin SIZE  leave a margin around it: 20px or 10%
  --mask              the matte alone, as a grey PNG
  --max-width PIXELS, --max-height PIXELS    scale larger results down
  --threshold 0-255, --feather 0-24, --strength 0.5-2    tune the edges

Output:
  Videos go to the current folder. The cut-out of photo.jpg becomes photo-cutout.png beside it;
  the cut-outs of a folder go to FOLDER/cutouts, and existing ones there are skipped.
  -o, --output PATH   write to this file or folder: film.mp4 is a file, films and films.old/ are
                      folders; - writes to standard output
  --force             replace existing files
  -q, --quiet         show no progress
  --json              print the server's JSON

Connection:
  --server URL        the gateway (MEDIA_SERVICES_URL; http://127.0.0.1:8080 by default)
  --key KEY           an access key; MEDIA_SERVICES_KEY keeps it out of process lists

  -h, --help          show this help
  --version           show the version

An interrupted download leaves a .part file if it can be resumed: run the same command again.

Exit codes: 0 done, 1 some items failed, 2 wrong usage, 3 rejected (a retry won't help),
4 unavailable (unreachable, busy or interrupted by the server: try again later),
5 a file can't be written (no permission, disk full), 130 interrupted.
`;

/** The command line is wrong; the message says why. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What `--output` names. */
export interface OutputPath {
  readonly folder: string;
  /** Absent if the path is a folder. */
  readonly name?: string;
}

interface Connection {
  readonly server: string;
  readonly key?: string | undefined;
  readonly quiet: boolean;
}

export interface VideoCommand extends Connection {
  readonly name: 'video';
  readonly urls: readonly string[];
  readonly format: 'mp3' | 'original' | 'mp4-720' | 'mp4-1080';
  readonly item?: number | undefined;
  readonly start?: string | undefined;
  readonly end?: string | undefined;
  readonly output?: '-' | OutputPath | undefined;
  readonly force: boolean;
}

export interface CutoutCommand extends Connection {
  readonly name: 'cutout';
  /** Files, folders, or `-` for standard input. */
  readonly sources: readonly string[];
  readonly url?: string | undefined;
  readonly threshold?: number | undefined;
  readonly feather?: number | undefined;
  readonly foregroundStrength?: number | undefined;
  readonly format: 'png' | 'webp' | 'jpg';
  readonly backgroundColor?: string | undefined;
  readonly crop: boolean;
  readonly cropMargin?: string | undefined;
  readonly mask: boolean;
  readonly maxWidth?: number | undefined;
  readonly maxHeight?: number | undefined;
  readonly output?: '-' | OutputPath | undefined;
  readonly force: boolean;
}

export interface InfoCommand extends Connection {
  readonly name: 'info';
  readonly url: string;
  readonly item?: number | undefined;
  readonly start?: string | undefined;
  readonly end?: string | undefined;
  readonly json: boolean;
}

export type Command =
  | { readonly name: 'help'; readonly isWanted: boolean }
  | { readonly name: 'version' }
  | VideoCommand
  | CutoutCommand
  | InfoCommand;

const connectionOptions = {
  server: { type: 'string' },
  key: { type: 'string' },
  quiet: { type: 'boolean', short: 'q' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

const outputOptions = { output: { type: 'string', short: 'o' }, force: { type: 'boolean' } } as const;

/** The options of each command. Any other is a usage error. */
const optionsOf = {
  video: {
    ...connectionOptions,
    ...outputOptions,
    mp3: { type: 'boolean' },
    original: { type: 'boolean' },
    720: { type: 'boolean' },
    1080: { type: 'boolean' },
    item: { type: 'string' },
    start: { type: 'string' },
    end: { type: 'string' },
  },
  cutout: {
    ...connectionOptions,
    ...outputOptions,
    url: { type: 'string' },
    threshold: { type: 'string' },
    feather: { type: 'string' },
    strength: { type: 'string' },
    format: { type: 'string' },
    background: { type: 'string' },
    crop: { type: 'boolean' },
    'crop-margin': { type: 'string' },
    mask: { type: 'boolean' },
    'max-width': { type: 'string' },
    'max-height': { type: 'string' },
  },
  info: {
    ...connectionOptions,
    item: { type: 'string' },
    start: { type: 'string' },
    end: { type: 'string' },
    json: { type: 'boolean' },
  },
} as const;

const commandNameSchema = z.enum(['video', 'cutout', 'info']);

const number = (name: string, low: number, high: number) =>
  z
    .string()
    .refine((text) => text.trim() !== '' && Number(text) >= low && Number(text) <= high, {
      error: `--${name} must be from ${low} to ${high}`,
    })
    .transform(Number)
    .optional();

const time = (name: string) =>
  z
    .string()
    .regex(/^(?:\d+:){0,2}\d+(?:\.\d+)?$/, {
      error: `--${name} must be a time such as 90, 90.5, 1:30 or 0:01:30.5`,
    })
    .optional();

const valuesSchema = z.object({
  server: z
    .string()
    .trim()
    // fetch rejects a user name and a password.
    .regex(/^https?:\/\/[^@?#]+$/i, {
      abort: true,
      error:
        'The server must be a URL such as http://127.0.0.1:8080. Set it with --server or MEDIA_SERVICES_URL.',
    })
    .refine((url) => URL.canParse(url), { error: 'The server is not a valid URL.' }),
  key: z
    .string()
    .regex(/^[\x21-\x7e]+$/, {
      error:
        'The key must have only ASCII characters, without spaces. Set it with --key or MEDIA_SERVICES_KEY.',
    })
    .optional(),
  quiet: z.boolean().default(false),
  output: z.string().min(1, { error: '--output is empty' }).optional(),
  force: z.boolean().default(false),
  mp3: z.boolean().default(false),
  original: z.boolean().default(false),
  720: z.boolean().default(false),
  1080: z.boolean().default(false),
  url: z.url({ protocol: /^https?$/, error: '--url must be an http or https URL' }).optional(),
  threshold: number('threshold', 0, 255),
  feather: number('feather', 0, 24),
  strength: number('strength', 0.5, 2),
  format: z.enum(['png', 'webp', 'jpg'], { error: '--format must be png, webp or jpg' }).optional(),
  background: z.string().min(1, { error: '--background is empty' }).optional(),
  crop: z.boolean().default(false),
  'crop-margin': z
    .string()
    .regex(/^\d{1,5}(?:px|%)$/, { error: '--crop-margin must be like 20px or 10%' })
    .optional(),
  mask: z.boolean().default(false),
  'max-width': number('max-width', 1, 100_000),
  'max-height': number('max-height', 1, 100_000),
  item: z
    .string()
    .regex(/^(?:[1-9]\d{0,2}|1000)$/, { error: '--item must be a whole number from 1 to 1000' })
    .transform(Number)
    .optional(),
  start: time('start'),
  end: time('end'),
  json: z.boolean().default(false),
});

/** @throws UsageError */
export function parseCommand(args: readonly string[], env: NodeJS.ProcessEnv): Command {
  const [first] = args;
  if (first === undefined) return { name: 'help', isWanted: false };
  if (['--help', '-h', 'help'].includes(first)) return { name: 'help', isWanted: true };
  if (first === '--version') return { name: 'version' };
  const name = commandNameSchema.safeParse(first).data;
  if (name === undefined) {
    const isOption = first.startsWith('-');
    throw new UsageError(isOption ? `The command comes before ${first}.` : `Unknown command: ${first}`);
  }
  const { values, positionals } = parseOptions(name, args.slice(1));
  if (values.help === true) return { name: 'help', isWanted: true };
  if (values.version === true) return { name: 'version' };
  const checked = valuesSchema.safeParse({
    ...values,
    server: values.server ?? (env.MEDIA_SERVICES_URL || 'http://127.0.0.1:8080'),
    key: values.key ?? (env.MEDIA_SERVICES_KEY || undefined),
  });
  if (!checked.success) throw new UsageError(checked.error.issues.map(({ message }) => message).join('\n'));
  if (name === 'cutout') return cutoutCommand(checked.data, positionals);
  const [url] = positionals;
  if (url === undefined) throw new UsageError(`${name} needs a URL.`);
  if (name === 'video') return videoCommand(checked.data, positionals);
  if (positionals.length > 1) throw new UsageError('info takes one URL.');
  const { server, key, quiet, item, start, end, json } = checked.data;
  return { server, key, quiet, name, url, item, start, end, json };
}

type Values = z.output<typeof valuesSchema>;

function cutoutCommand(values: Values, sources: readonly string[]): CutoutCommand {
  const { server, key, quiet, force, url, threshold, feather, strength, background, crop, mask } = values;
  const images = sources.length + (url === undefined ? 0 : 1);
  if (images === 0) throw new UsageError('cutout needs an image.');
  const output = outputOf(values.output);
  const format = cutoutFormat(values.format, output);
  if (images > 1) requireFolder(output, 'several images');
  if (mask && format !== 'png') throw new UsageError('--mask is always a PNG.');
  if (mask && background !== undefined) throw new UsageError('--mask has no --background.');
  return {
    server,
    key,
    quiet,
    name: 'cutout',
    sources,
    url,
    output,
    force,
    threshold,
    feather,
    foregroundStrength: strength,
    format,
    backgroundColor: background,
    crop,
    cropMargin: values['crop-margin'],
    mask,
    maxWidth: values['max-width'],
    maxHeight: values['max-height'],
  };
}

function videoCommand(values: Values, urls: readonly string[]): VideoCommand {
  const { server, key, quiet, force, item, start, end } = values;
  const formats = [
    ...(values.mp3 ? (['mp3'] as const) : []),
    ...(values.original ? (['original'] as const) : []),
    ...(values[720] ? (['mp4-720'] as const) : []),
    ...(values[1080] ? (['mp4-1080'] as const) : []),
  ];
  if (formats.length > 1) throw new UsageError('Choose one of --720, --1080, --mp3 and --original.');
  const output = outputOf(values.output);
  const format = videoFormat(formats[0], output);
  if (urls.length > 1) requireFolder(output, 'several videos');
  return { server, key, quiet, name: 'video', urls, format, item, start, end, output, force };
}

/** An existing folder, and a path without an extension or with a slash at its end, is a folder. */
function outputOf(path: string | undefined): '-' | OutputPath | undefined {
  if (path === undefined) return undefined;
  if (path === '-') return '-';
  const isFile = /^\.(?=.*[a-z])[a-z0-9]{2,5}$/i.test(extname(path)) && !/[/\\]$/.test(path);
  if (!isFile || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return { folder: path };
  return { folder: dirname(path), name: basename(path) };
}

function requireFolder(output: '-' | OutputPath | undefined, results: string): void {
  if (output === '-') throw new UsageError(`-o - takes one result, not ${results}.`);
  if (output?.name !== undefined)
    throw new UsageError(`-o must be a folder for ${results}. End its name with a slash: ${output.name}/`);
}

const folderHint = 'To make a folder of that name, end it with a slash.';

/** The format that the output file's name asks for, unless `--format` says the same or nothing. */
function cutoutFormat(
  chosen: CutoutCommand['format'] | undefined,
  output: '-' | OutputPath | undefined,
): CutoutCommand['format'] {
  if (output === undefined || output === '-' || output.name === undefined) return chosen ?? 'png';
  const extension = extname(output.name).slice(1).toLowerCase().replace('jpeg', 'jpg');
  const named = valuesSchema.shape.format.safeParse(extension).data;
  if (named === undefined || (chosen !== undefined && chosen !== named)) {
    const wanted = chosen === undefined ? 'png, webp or jpg' : `--format ${chosen}`;
    throw new UsageError(`${output.name} is not a name for ${wanted}. ${folderHint}`);
  }
  return named;
}

/** The format of the options, or else of the output file's name: `film.mp3` is an MP3. */
function videoFormat(
  chosen: VideoCommand['format'] | undefined,
  output: '-' | OutputPath | undefined,
): VideoCommand['format'] {
  if (output === undefined || output === '-' || output.name === undefined) return chosen ?? 'mp4-720';
  const extension = extname(output.name).slice(1).toLowerCase();
  const format = chosen ?? (extension === 'mp3' ? 'mp3' : 'mp4-720');
  // The site decides what its original audio is.
  if (format === 'original' || extension === format.slice(0, 3)) return format;
  throw new UsageError(
    `${output.name} is not a name for ${format === 'mp3' ? 'an MP3' : 'an MP4'}. Use .${format.slice(0, 3)}${
      chosen === undefined ? ', or .mp3 for the audio' : ''
    }. ${folderHint}`,
  );
}

type OptionValues = Readonly<Record<string, string | boolean | undefined>>;

function parseOptions(name: keyof typeof optionsOf, args: string[]) {
  try {
    const { values, positionals } = parseArgs({ args, allowPositionals: true, options: optionsOf[name] });
    return { values: values as OptionValues, positionals };
  } catch (error) {
    const { message } = z.object({ message: z.string() }).parse(error);
    const unknown = /^Unknown option '(.+?)'/.exec(message)?.[1];
    const given = args.find((arg) => unknown !== undefined && arg.startsWith(unknown));
    if (given === undefined) throw new UsageError(message);
    const hint = name === 'cutout' ? ` For a file of that name, write ./${given}.` : '';
    throw new UsageError(`Unknown option: ${given}.${hint}`);
  }
}
