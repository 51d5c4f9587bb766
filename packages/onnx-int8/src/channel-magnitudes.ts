import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const channelMagnitudesSchema = z.record(z.string(), z.array(z.number().nonnegative()).min(1));

/** How large the values of each channel get on photographs: activation → channels. */
export type ChannelMagnitudes = z.output<typeof channelMagnitudesSchema>;

/**
 * The magnitudes of a network that `pnpm bench:activations` has measured.
 * @param network a file name of `data/`, without `.json`
 */
export async function measuredMagnitudes(network: string): Promise<ChannelMagnitudes> {
  const text = await readFile(new URL(`../data/${network}.json`, import.meta.url), 'utf8');
  return z.object({ magnitudes: channelMagnitudesSchema }).parse(JSON.parse(text)).magnitudes;
}
