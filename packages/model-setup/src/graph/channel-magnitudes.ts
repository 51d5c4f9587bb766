import { z } from 'zod';

/**
 * How large the values of each channel get on photographs: activation → channels.
 * Measured by `pnpm bench:activations`; eight-bit numbers are laid over these.
 */
export const channelMagnitudesSchema = z.record(z.string(), z.array(z.number().nonnegative()).min(1));
export type ChannelMagnitudes = z.output<typeof channelMagnitudesSchema>;
