import type { SettingDescription } from '@media-services/http-common';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What nginx/settings.awk accepts, by the kind that nginx/settings.tsv names. */
const expectations: Readonly<Record<string, string>> = {
  text: 'text',
  port: 'a port from 1 to 65535',
  path: 'a path without a slash at its end',
  bytes: 'a number of bytes, or with a unit such as 15MiB or 2GB',
  networks: 'a comma-separated list',
  origins: 'a comma-separated list, or *',
  hosts: 'a comma-separated list',
  secret: 'text',
  keys: 'the path of a file',
  services: 'video-dl, bg-removal or both, comma-separated',
};

/** The settings of the gateway (nginx/settings.tsv), in their order. */
export function gatewaySettings(root: string): SettingDescription[] {
  return readFileSync(join(root, 'nginx/settings.tsv'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [name = '', kind = '', fallback = '', description = ''] = line.split('\t');
      return { name, default: fallback, expectation: expectationOf(kind), description };
    });
}

function expectationOf(kind: string): string {
  const [type = '', low, high] = kind.split(' ');
  if (type === 'integer' || type === 'images') return `a whole number from ${low} to ${high}`;
  const expectation = expectations[type];
  if (expectation === undefined) throw new Error(`nginx/settings.tsv has a kind without words: ${type}`);
  return expectation;
}
