import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { film } from '@media-services/fault-site';
import { isNight } from '../../../vitest/at-night.js';
import { newClient } from '../support/client.js';
import { chromium, firefox } from './browsers.js';
import { deliveries, download, makeSources, type Delivery } from './files.js';
import { ffmpeg, gstreamer, mediainfo, mpv, type Program } from './programs.js';

/** Programs that we did not write open what the service sends. */
const programs: Readonly<Record<string, Program>> = {
  ffmpeg,
  mediainfo,
  Chromium: chromium,
  ...(isNight && { GStreamer: gstreamer, mpv, Firefox: firefox }),
};

const folder = mkdtempSync(join(tmpdir(), 'media-services-players-'));
const fileOf = ({ name, extension }: Delivery) => join(folder, `${name}.${extension}`);

beforeAll(async () => {
  await makeSources();
  await using client = await newClient();
  for (const delivery of deliveries) await download(client, delivery, fileOf(delivery));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(Object.entries(programs))('%s', (_name, program) => {
  it.each(deliveries)('shows the length of $name and reads it to the end', async (delivery) => {
    const { seconds, title } = await program(fileOf(delivery));
    expect(Math.abs(seconds - delivery.seconds)).toBeLessThan(0.15);
    // Files that are passed on have the site's tags, here none.
    if (title !== undefined && !delivery.name.includes('passed on')) expect(title).toContain(film.title);
  });
});
