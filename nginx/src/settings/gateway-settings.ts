import { fromText, gatewaySecretSetting, setting } from '@media-services/http-common/config/settings';
import { z } from 'zod';
import { host } from './host.js';
import { keyFileProblems } from './key-file.js';

const ownPaths = /^\/(api|docs|internal|video-dl|bg-removal|css|js|icons|samples)(\/|$)/;
const services = ['video-dl', 'bg-removal'] as const;

/** Comma-separated; empty items don't count. `parse` returns undefined for an invalid item. */
function listOf<Item>(fallback: string, parse: (item: string) => Item | undefined, expectation: string) {
  return fromText(
    fallback,
    (text) => {
      const parsed = text
        .split(',')
        .filter((item) => item.trim() !== '')
        .map((item) => parse(item.trim()));
      const valid = parsed.filter((item) => item !== undefined);
      return valid.length === parsed.length ? [...new Set(valid)] : undefined;
    },
    expectation,
  );
}

/** As browsers send it: in lower case, without the default port. */
function originOf(text: string): string | undefined {
  if (!/^https?:\/\/([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d+)?$/i.test(text)) return undefined;
  const origin = text.toLowerCase();
  return origin.replace(origin.startsWith('http:') ? /:80$/ : /:443$/, '');
}

/** An IP address or a CIDR. */
function networkOf(text: string): string | undefined {
  const [address = '', bits, ...rest] = text.split('/');
  if (rest.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return undefined;
  const isIpv4 = z.regexes.ipv4.test(address);
  // `::ffff:10.0.0.1` has an IPv4 address in place of its last two groups.
  const inner = address.slice(address.lastIndexOf(':') + 1);
  const groups = z.regexes.ipv4.test(inner) ? address.replace(inner, '0:0') : address;
  const isIpv6 = groups.includes(':') && z.regexes.ipv6.test(groups);
  return (isIpv4 || isIpv6) && Number(bits ?? 0) <= (isIpv4 ? 32 : 128) ? text : undefined;
}

/** The settings of the gateway, in the order of their documentation. */
export const gatewaySchema = z.object({
  PORT: fromText(
    '8080',
    (text) => (/^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= 65535 ? Number(text) : undefined),
    'a port from 1 to 65535',
  ).describe('Port of the gateway, which serves everything.'),
  HOST: setting
    .text()
    .describe(
      'IP address to listen on. Empty: 127.0.0.1 under npm start, every IP address of the machine under compose.',
    ),
  SERVICES: listOf(
    services.join(','),
    (item) => services.find((each) => each === item),
    'video-dl, bg-removal or both, separated by a comma',
  ).describe('Services behind the gateway: one of them, or both.'),
  VIDEO_REQUESTS_PER_MINUTE: setting
    .integer(30, { min: 0, max: 100_000 })
    .describe(
      'Requests to video-dl per client and minute, up to a third of them in one burst; 0 disables the limit.',
    ),
  STREAMS_PER_CLIENT: setting
    .integer(4, { min: 1, max: 100_000 })
    .describe(
      'Concurrent streams per client. Twice as many concurrent lookups are allowed in addition, and 16 times as many requests in total.',
    ),
  IMAGES_PER_CLIENT: setting
    .integer(5, { min: 1, max: 100_000 })
    .describe(
      'Concurrent images per client, from the first byte of the upload to the last byte of the response.',
    ),
  TRUSTED_PROXIES: listOf('', networkOf, 'IP addresses or CIDRs such as 10.0.0.0/8, separated by commas')
    .refine((networks) => networks.every((network) => !/\/0+$/.test(network)), {
      error:
        'must be the addresses of proxies: with /0, every client could choose the address it is counted by',
    })
    .describe(
      'IP addresses or CIDRs of the proxies in front of the gateway, comma-separated: their X-Forwarded-For identifies the client. Empty: the connecting address is the client.',
    ),
  CORS_ALLOWED_ORIGINS: listOf(
    '',
    (item) => (item === '*' ? item : originOf(item)),
    '* or origins such as https://example.org, separated by commas, without a path',
  )
    .refine((origins) => !origins.includes('*') || origins.length === 1, {
      error: 'must be * alone, or origins',
    })
    .describe(
      'Origins such as https://example.org whose pages may use the API from a browser, comma-separated, or *. Never with credentials.',
    ),
  ALLOWED_HOSTS: listOf(
    '',
    (item) => (/^([a-z0-9_-]+\.)*[a-z0-9_-]+$/i.test(item) ? item.toLowerCase() : undefined),
    'host names such as media.example.org, separated by commas, without a port',
  ).describe(
    'Names, comma-separated, that browsers may use for the gateway; other names get 421. Empty: localhost and IP addresses if it listens on loopback, otherwise every name.',
  ),
  GATEWAY_SECRET: gatewaySecretSetting(
    'Secret shared with the services, 16 to 128 letters, digits, - or _: with it, they answer only the gateway. Empty: npm start makes one; in containers, the services answer everyone in their networks.',
  ),
  BASE_PATH: fromText(
    '',
    (text) => (text === '/' ? '' : /^(\/[A-Za-z0-9_~-]+)*$/.test(text) ? text : undefined),
    'a path such as /media, without a slash at its end and without dots',
  )
    .refine((path) => !ownPaths.test(path), { error: 'must be a path that the gateway itself does not use' })
    .describe('Path prefix for everything, for example /media, if a proxy in front also serves other sites.'),
  API_KEYS_FILE: fromText('', (text) => text, 'the path of a file')
    .superRefine((file, context) => {
      for (const message of keyFileProblems(file, host.read)) context.addIssue({ code: 'custom', message });
    })
    .describe(
      "File with the clients' API keys, one per line: name, SHA-256 of the key, and optional limits per minute, images=N and videos=N. Without it everything is public.",
    ),
  IMAGES_PER_MINUTE: setting
    .integer(5, { min: 0, max: 100_000 })
    .describe('Images per client in any 60 seconds; 0 disables the limit.'),
  IMAGE_MAX_BYTES: setting
    .bytes('15MiB', { min: 1, max: Number.MAX_SAFE_INTEGER })
    .describe('Largest upload; the gateway allows 1 MiB more for the form around it.'),
  OPERATOR_CONTACT: setting
    .text()
    .describe('How to reach the operator of the gateway; shown to clients that hit a limit.'),
});

export type GatewaySettings = z.output<typeof gatewaySchema>;
