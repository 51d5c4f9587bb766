/* eslint-disable @typescript-eslint/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { boxFilter } from './box-filter.js';
import { createPlane, type Plane } from './plane.js';

/** Between these the network has not decided. */
const undecided = { from: 0.04, to: 0.96 } as const;
/** Share of the mask's longer side; edges and hair are narrower than twice this. */
const reach = 3 / 128;
/** Factor of the logits where an area is wide. */
const gain = 3;

/**
 * Moves wide undecided areas that are rather foreground towards 1, in place. Edges and hair are
 * undecided over a few pixels only. Where no pixel in reach is decided, the network usually hesitates
 * whether a solid part belongs to the subject, and would leave a half-transparent ghost. The change
 * fades in from the border of such an area. Areas below 0.5 stay: loose hair is among them.
 * @param mask 0-1
 */
export function decideWideAreas(mask: Plane): void {
  const { width, height, data } = mask;
  const radius = Math.max(1, Math.round(Math.max(width, height) * reach));
  const wide = createPlane(width, height);
  const scratch = createPlane(width, height);
  for (let i = 0; i < data.length; i++) {
    wide.data[i] = data[i]! > undecided.from && data[i]! < undecided.to ? 1 : 0;
  }
  boxFilter(wide, radius, scratch);
  let hasWideArea = false;
  for (let i = 0; i < data.length; i++) {
    const isWide = wide.data[i]! > 0.9999;
    wide.data[i] = isWide ? 1 : 0;
    if (isWide) hasWideArea = true;
  }
  if (!hasWideArea) return;
  boxFilter(wide, radius, scratch);
  for (let i = 0; i < data.length; i++) {
    const weight = Math.min(1, 2 * wide.data[i]!);
    const value = data[i]!;
    if (weight === 0 || value <= 0.5) continue;
    const odds = (value / (1 - value)) ** gain;
    data[i] = value + weight * (odds / (1 + odds) - value);
  }
}
