import { statSync } from 'node:fs';
import { basename, dirname, extname } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import {
  perStreamOption,
  type StreamChoice,
  streamChoices,
  streamOptions,
  type Values,
  valuesSchema,
} from './option-values.js';

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
  readonly json: boolean;
}

export interface VideoCommand extends Connection {
  readonly name: 'video';
  readonly urls: readonly string[];
  /** A file of links, or `-` for standard input. */
  readonly batchFile?: string | undefined;
  readonly format: StreamChoice;
  readonly item?: number | undefined;
  readonly items?: 'all' | readonly number[] | undefined;
  readonly jobs?: number | undefined;
  readonly start?: string | undefined;
  readonly end?: string | undefined;
  readonly chapter?: number | undefined;
  readonly lang?: string | undefined;
  readonly subtitles?: string | undefined;
  readonly output?: '-' | OutputPath | undefined;
  readonly force: boolean;
}

export interface CutoutCommand extends Connection {
  readonly name: 'cutout';
  /** Files, folders, or `-` for standard input. */
  readonly sources: readonly string[];
  readonly isRecursive: boolean;
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
  readonly chapter?: number | undefined;
}

export interface SignCommand extends Connection {
  readonly name: 'sign';
  readonly url: string;
  readonly format: StreamChoice;
  readonly item?: number | undefined;
  readonly start?: string | undefined;
  readonly end?: string | undefined;
  readonly chapter?: number | undefined;
  readonly lang?: string | undefined;
  readonly subtitles?: string | undefined;
  readonly hours: number;
}

export type Command =
  | { readonly name: 'help'; readonly isWanted: boolean }
  | { readonly name: 'version' }
  | { readonly name: 'completion'; readonly shell: Shell }
  | VideoCommand
  | CutoutCommand
  | InfoCommand
  | SignCommand;

const connectionOptions = {
  server: { type: 'string' },
  key: { type: 'string' },
  quiet: { type: 'boolean', short: 'q' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

const outputOptions = { output: { type: 'string', short: 'o' }, force: { type: 'boolean' } } as const;

const partOptions = {
  item: { type: 'string' },
  start: { type: 'string' },
  end: { type: 'string' },
  chapter: { type: 'string' },
} as const;

const trackOptions = {
  lang: { type: 'string' },
  subtitles: { type: 'string' },
  ...perStreamOption({ type: 'boolean' } as const),
} as const;

/** The options of each command. Any other is a usage error. */
export const optionsOf = {
  video: {
    ...connectionOptions,
    ...outputOptions,
    ...trackOptions,
    ...partOptions,
    items: { type: 'string' },
    'batch-file': { type: 'string', short: 'a' },
    jobs: { type: 'string', short: 'j' },
  },
  cutout: {
    ...connectionOptions,
    ...outputOptions,
    recursive: { type: 'boolean' },
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
    ...partOptions,
  },
  sign: { ...connectionOptions, ...trackOptions, ...partOptions, hours: { type: 'string' } },
  completion: {},
} as const;

const commandNameSchema = z.enum(['video', 'cutout', 'info', 'sign', 'completion']);
const shellSchema = z.enum(['bash', 'zsh', 'fish']);
export type Shell = z.output<typeof shellSchema>;

/** @throws UsageError */
export function parseCommand(args: readonly string[], env: NodeJS.ProcessEnv): Command {
  if (args.length === 0) return { name: 'help', isWanted: false };
  const index = commandIndex(args);
  const word = args[index];
  if (word === undefined) {
    if (args.some((arg) => arg === '--help' || arg === '-h')) return { name: 'help', isWanted: true };
    if (args.includes('--version')) return { name: 'version' };
    throw new UsageError('The command is missing: video, cutout, info, sign or completion.');
  }
  if (word === 'help') return { name: 'help', isWanted: true };
  const name = commandNameSchema.safeParse(word).data;
  if (name === undefined) throw new UsageError(`Unknown command: ${word}`);
  const { values, positionals } = parseOptions(name, args.toSpliced(index, 1));
  if (values.help === true) return { name: 'help', isWanted: true };
  if (values.version === true) return { name: 'version' };
  const checked = valuesSchema.safeParse({
    ...values,
    server: values.server ?? (env.MEDIA_SERVICES_URL || 'http://127.0.0.1:8080'),
    key: values.key ?? (env.MEDIA_SERVICES_KEY || undefined),
  });
  if (!checked.success) throw new UsageError(checked.error.issues.map(({ message }) => message).join('\n'));
  if (name === 'completion') return completionCommand(positionals);
  if (name === 'cutout') return cutoutCommand(checked.data, positionals);
  if (name === 'video') return videoCommand(checked.data, positionals);
  const [url] = positionals;
  if (url === undefined) throw new UsageError(`${name} needs a URL.`);
  if (positionals.length > 1) throw new UsageError(`${name} takes one URL.`);
  const { server, key, quiet, item, start, end, chapter, lang, subtitles, json, hours = 1 } = checked.data;
  const common = { server, key, quiet, url, item, start, end, chapter, json };
  if (name === 'info') return { ...common, name };
  if (key === undefined) throw new UsageError('sign needs an access key: --key or MEDIA_SERVICES_KEY.');
  return { ...common, name, hours, lang, subtitles, format: formatOf(checked.data) ?? 'mp4-720' };
}

/** Options may come before the command: the first word that is no option or its value. */
function commandIndex(args: readonly string[]): number {
  const withValue = new Set(
    Object.values(optionsOf)
      .flatMap((options): [string, OptionKind][] => Object.entries(options))
      .filter(([, { type }]) => type === 'string')
      .flatMap(([name, { short }]) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]),
  );
  return args.findIndex(
    (arg, index) => (!arg.startsWith('-') || arg === '-') && !withValue.has(args[index - 1] ?? ''),
  );
}

interface OptionKind {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
}

function completionCommand([shell, ...others]: readonly string[]): Command {
  const known = shellSchema.safeParse(shell).data;
  if (known === undefined || others.length > 0) throw new UsageError('completion takes bash, zsh or fish.');
  return { name: 'completion', shell: known };
}

function cutoutCommand(values: Values, sources: readonly string[]): CutoutCommand {
  const { server, key, quiet, json, force, url, threshold, feather, strength, background, crop, mask } =
    values;
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
    json,
    name: 'cutout',
    sources,
    isRecursive: values.recursive,
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

function videoCommand(values: Values, sources: readonly string[]): VideoCommand {
  const { server, key, quiet, json, force, item, items, jobs, start, end, chapter, lang, subtitles } = values;
  const urls = [...new Set(sources.filter((source) => source !== '-'))];
  const batchFile = values['batch-file'] ?? (sources.includes('-') ? '-' : undefined);
  if (urls.length === 0 && batchFile === undefined) throw new UsageError('video needs a URL.');
  if (item !== undefined && items !== undefined) throw new UsageError('Choose one of --item and --items.');
  if (chapter !== undefined && (start !== undefined || end !== undefined))
    throw new UsageError('Choose one of --chapter and --start or --end.');
  const output = outputOf(values.output);
  const format = videoFormat(formatOf(values), output);
  if (subtitles !== undefined && !format.startsWith('mp4'))
    throw new UsageError('--subtitles needs a video, not --mp3 or --original.');
  if (urls.length > 1 || batchFile !== undefined || items !== undefined)
    requireFolder(output, 'several videos');
  const what = { urls, batchFile, format, item, items, start, end, chapter, lang, subtitles };
  return { server, key, quiet, json, name: 'video', ...what, jobs, output, force };
}

const listed = new Intl.ListFormat('en-GB', { type: 'conjunction' });

function formatOf(values: Values): StreamChoice | undefined {
  const formats = streamOptions.flatMap((option) => (values[option] ? streamChoices[option] : []));
  if (formats.length > 1)
    throw new UsageError(`Choose one of ${listed.format(streamOptions.map((option) => `--${option}`))}.`);
  return formats[0];
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
