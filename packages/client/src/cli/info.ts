import type { MediaServicesClient } from '../client.js';
import type { InfoCommand } from './arguments.js';
import { sizeText, timeText, type Terminal } from './terminal.js';

/** Prints what is on a page. */
export async function showInfo(
  client: MediaServicesClient,
  { url, item, start, end, json }: InfoCommand,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const info = await client.info(url, { signal, item, start, end });
  if (json) {
    terminal.result(JSON.stringify(info, null, 2));
    return;
  }
  terminal.result(info.title);
  const facts = [info.uploader, info.duration === null ? null : timeText(info.duration), info.uploadDate];
  const known = facts.filter((fact) => fact !== null);
  if (known.length > 0) terminal.result(known.join(', '));
  for (const { target, estimatedBytes } of info.downloads) {
    const size = estimatedBytes === null ? 'size unknown' : `about ${sizeText(estimatedBytes)}`;
    terminal.result(`  ${target.padEnd(9)} ${size}`);
  }
  for (const { index, title, duration } of info.items) {
    const length = duration === null ? '' : ` (${timeText(duration)})`;
    terminal.result(`  --item ${index}  ${title ?? 'untitled'}${length}`);
  }
}
