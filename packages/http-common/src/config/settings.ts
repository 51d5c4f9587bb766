import { z } from 'zod';

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** A setting reads one environment variable: text in, a typed value out. */
export type Setting<Output> = z.ZodType<Output, string | undefined>;

const secondsUnits: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600 };
const byteUnits: Readonly<Record<string, number>> = {
  '': 1,
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
};
const trueWords = new Set(['true', '1', 'yes', 'on']);
const falseWords = new Set(['false', '0', 'no', 'off']);

interface Range {
  readonly min?: number;
  readonly max?: number;
}

/** Parses text with `parse`; `fallback` is the documented default. */
export function fromText<Output>(
  fallback: string | undefined,
  parse: (text: string) => Output | undefined,
  expectation: string,
): Setting<Output> {
  const base: z.ZodType<string, string | undefined> =
    fallback === undefined
      ? z.string({ error: `is required: ${expectation}` })
      : z.string().default(fallback);
  return base
    .transform((text, context): Output => {
      const value = parse(text.trim());
      if (value !== undefined) return value;
      context.addIssue({ code: 'custom', message: `must be ${expectation}, but is "${text}"` });
      return z.NEVER;
    })
    .meta({ default: fallback ?? null, expectation });
}

function numberIn(text: string, { min = -Infinity, max = Infinity }: Range): number | undefined {
  if (!/^-?\d+(\.\d+)?$/.test(text)) return undefined;
  const value = Number(text);
  return value >= min && value <= max ? value : undefined;
}

function withUnit(text: string, units: Readonly<Record<string, number>>, range: Range): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([A-Za-z]*)$/.exec(text);
  const factor = match && units[match[2] ?? ''];
  return match && factor !== undefined && factor !== null
    ? numberIn(String(Number(match[1]) * factor), range)
    : undefined;
}

function rangeText({ min, max }: Range): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` of at least ${min}`;
  return max === undefined ? '' : ` of at most ${max}`;
}

/** Builders for settings, each of which reads one environment variable. */
export const setting = {
  integer: (fallback: number, range: Range = {}): Setting<number> =>
    fromText(
      String(fallback),
      (text) => (Number.isSafeInteger(Number(text)) ? numberIn(text, range) : undefined),
      `a whole number${rangeText(range)}`,
    ),
  /** A number that the service chooses itself when set to `auto`. */
  integerOrAuto: (range: Range): Setting<number | 'auto'> =>
    fromText(
      'auto',
      (text) => (text === 'auto' ? text : /^\d+$/.test(text) ? numberIn(text, range) : undefined),
      `auto or a whole number${rangeText(range)}`,
    ),
  number: (fallback: number, range: Range = {}): Setting<number> =>
    fromText(String(fallback), (text) => numberIn(text, range), `a number${rangeText(range)}`),
  port: (fallback: number): Setting<number> =>
    fromText(
      String(fallback),
      (text) => (/^\d+$/.test(text) ? numberIn(text, { min: 0, max: 65535 }) : undefined),
      'a port from 0 (any free one) to 65535',
    ),
  /** Seconds; accepts `90`, `90s`, `2m`, `1h`. */
  seconds: (fallback: number, range: Range = { min: 0 }): Setting<number> =>
    fromText(
      String(fallback),
      (text) => withUnit(text, secondsUnits, range),
      `a number of seconds${rangeText(range)}, or with a unit such as 90s, 2m, 1h`,
    ),
  /** Bytes; accepts `1048576`, `15MiB`, `2GB`. */
  bytes: (fallback: string, range: Range = { min: 1 }): Setting<number> =>
    fromText(
      fallback,
      (text) => withUnit(text, byteUnits, range),
      'a number of bytes, or with a unit such as 15MiB or 2GB',
    ),
  boolean: (fallback: boolean): Setting<boolean> =>
    fromText(
      String(fallback),
      (text) =>
        trueWords.has(text.toLowerCase()) ? true : falseWords.has(text.toLowerCase()) ? false : undefined,
      'true or false',
    ),
  text: (fallback = ''): Setting<string> => fromText(fallback, (text) => text, 'text'),
  /** Comma-separated. */
  list: (fallback: readonly string[] = []): Setting<string[]> =>
    fromText(
      fallback.join(','),
      (text) =>
        text
          .split(',')
          .map((item) => item.trim())
          .filter(Boolean),
      'a comma-separated list',
    ),
  oneOf: <const Value extends string>(values: readonly Value[], fallback: Value): Setting<Value> =>
    fromText(fallback, (text) => values.find((value) => value === text), `one of ${values.join(', ')}`),
};

/** Shares rate limits between replicas. */
export function redisUrlSetting() {
  return setting
    .text('')
    .refine((url) => url === '' || (URL.canParse(url) && /^rediss?:\/\//i.test(url)), {
      error: 'must be redis://[user:password@]host:port, or rediss:// for TLS',
    })
    .describe(
      'Redis that shares the image limits and API key limits between replicas, for example redis://redis:6379; empty: each replica counts on its own.',
    );
}

/** What a client must send or read per minute while a service waits for it. */
export const minClientBytesPerMinute = 256 * 1024;

export function gatewaySecretSetting(description: string) {
  return setting
    .text('')
    .refine((secret) => secret === '' || /^[A-Za-z0-9_-]{16,128}$/.test(secret), {
      error: 'must be 16 to 128 letters, digits, - or _',
    })
    .describe(description);
}

/** The settings that every service has. */
export function commonSettings(defaults: { port: number; metricsPort: number }) {
  return {
    PORT: setting.port(defaults.port).describe('Port of the public endpoints.'),
    HOST: setting.text('0.0.0.0').describe('IP address that the public port listens on.'),
    METRICS_PORT: setting
      .port(defaults.metricsPort)
      .describe('Port of /metrics and /livez; never publish it.'),
    LOG_LEVEL: setting.oneOf(logLevels, 'info').describe('Lowest log level that is written.'),
    TRUST_PROXY_HOPS: setting
      .integer(0, { min: 0, max: 10 })
      .describe(
        'Number of proxies in front whose X-Forwarded-For is trusted: 0 standalone, 1 behind the gateway.',
      ),
    GATEWAY_SECRET: gatewaySecretSetting(
      'Secret shared with the gateway: without it, a service answers only health probes. Empty: it answers everyone who reaches its port. `npm start` makes one.',
    ),
    // Without a unit, because docker-compose.yml derives its stop_grace_period from it.
    SHUTDOWN_GRACE_SECONDS: setting
      .number(25, { min: 0, max: 3600 })
      .describe('How many seconds running requests may continue after SIGTERM before they are aborted.'),
    // The gateway routes by it, so its settings validate it.
    BASE_PATH: fromText('', (text) => (text === '/' ? '' : text), 'text').describe(
      'Path prefix under which the gateway is reached, for example /media; links in responses start with it.',
    ),
  };
}

/** The error message if an attempt fails, else undefined. Lets the code that uses a setting validate it. */
export function problemOf(attempt: () => unknown): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
