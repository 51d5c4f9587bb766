import { z } from 'zod';
import {
  commonSettings,
  ConfigError,
  describeConfig,
  loadConfig,
  renderConfigurationTable,
  setting,
  unknownSettings,
} from '../src/index.js';

const schema = z.object({
  ...commonSettings({ port: 3001, metricsPort: 9101 }),
  SIZE: setting.bytes('15MiB').describe('A size.'),
  WAIT: setting.seconds(30).describe('A time.'),
  SHARE: setting.number(0.5, { min: 0, max: 1 }).describe('A share.'),
  NAMES: setting.list().describe('Some names.'),
  MODE: setting.oneOf(['fast', 'good'], 'good').describe('A mode.'),
  ON: setting.boolean(true).describe('A switch.'),
});

describe('variable names', () => {
  const known = ['IMAGES_PER_MINUTE', 'IMAGE_MAX_BYTES', 'HOST', 'REDIS_URL'];

  it.each([
    ['IMAGES_PER_MIN', /not a setting.*IMAGES_PER_MINUTE/],
    ['IMAGES_PER_MINUTES', /IMAGES_PER_MINUTE\?/],
    ['IMAGE_MAX_BYTSE', /IMAGE_MAX_BYTES/],
    ['REDIS_URL_OLD', /REDIS_URL/],
  ])('%s is reported', (name, message) => {
    expect(unknownSettings(known, { [name]: '1' })).toEqual([expect.stringMatching(message)]);
  });

  it('ignores known settings, empty variables and those of other programs', () => {
    const env = {
      IMAGES_PER_MINUTE: '5',
      IMAGES_PER_MIN: ' ',
      HOME: '/root',
      HOSTNAME: 'x',
      // Another service's.
      STREAMS_MAX: '1',
      PAGE_MAX_BYTES: '1',
    };
    expect(unknownSettings(known, env)).toEqual([]);
  });
});

describe('loading the configuration', () => {
  it('uses the defaults for unset and empty variables', () => {
    expect(loadConfig(schema, { PORT: '', SIZE: ' ' })).toMatchObject({
      PORT: 3001,
      METRICS_PORT: 9101,
      SIZE: 15 * 1024 * 1024,
      WAIT: 30,
      NAMES: [],
      MODE: 'good',
      ON: true,
      TRUST_PROXY_HOPS: 0,
    });
  });

  it('takes a BASE_PATH of / for none, so that no link begins with //', () => {
    expect(loadConfig(schema, { BASE_PATH: '/' }).BASE_PATH).toBe('');
    expect(loadConfig(schema, { BASE_PATH: '/media' }).BASE_PATH).toBe('/media');
  });

  it('parses units, lists and words', () => {
    expect(
      loadConfig(schema, { SIZE: '2GB', WAIT: '2m', NAMES: 'a, b,,c', ON: 'off', SHARE: '0.25' }),
    ).toMatchObject({
      SIZE: 2e9,
      WAIT: 120,
      NAMES: ['a', 'b', 'c'],
      ON: false,
      SHARE: 0.25,
    });
  });

  it('reports every problem at once, each with its variable', () => {
    const load = (): unknown =>
      loadConfig(schema, { PORT: '70000', SIZE: 'big', MODE: 'slow', ON: 'maybe', SHARE: '1.5', WAIT: '-1' });
    expect(load).toThrow(ConfigError);
    for (const name of ['PORT', 'SIZE', 'MODE', 'ON', 'SHARE', 'WAIT'])
      expect(load).toThrow(new RegExp(`- ${name} must be`));
  });
});

describe('describing the configuration', () => {
  it('has a description, a default and an expectation for every variable', () => {
    for (const { description, expectation } of describeConfig(schema)) {
      expect(description).not.toBe('');
      expect(expectation).not.toBe('');
    }
    expect(describeConfig(schema)).toContainEqual({
      name: 'SIZE',
      default: '15MiB',
      expectation: 'a number of bytes, or with a unit such as 15MiB or 2GB',
      description: 'A size.',
    });
  });

  it('renders a table with one row per variable', () => {
    expect(renderConfigurationTable(describeConfig(schema))).toContain(
      '| `MODE` | `good` | A mode. | one of fast, good |',
    );
  });
});
