import type { RgbaImage } from '../images/rgba-image.js';
import { withCloseUp } from './close-up.js';
import { cutOutOutline, greySurroundings, rejectedSamples, type Outline } from './finished-cut-out.js';
import { plainSurroundings } from './plain-ground.js';
import type { Plane } from './plane.js';
import { resample } from './resample.js';
import type { Look } from './surroundings.js';

/** The image is already a cut-out: its own alpha stands, without the rejected samples of its outline. */
export interface OwnAlpha {
  readonly kind: 'own-alpha';
  readonly outline: Outline;
  readonly rejected: Uint8Array;
}

/** What the network says of an image. */
export type FoundSubject = { readonly kind: 'mask'; readonly mask: Plane } | OwnAlpha;

/**
 * Shows an image to the network as often as it takes: a finished cut-out once, with room around it; a
 * subject that fills an image with a plain ground twice, the second time with room around it; a
 * small subject twice, the second time larger; anything else once.
 * @param isOpaque whether no pixel of the image is transparent
 */
export async function findSubject(image: RgbaImage, isOpaque: boolean, look: Look): Promise<FoundSubject> {
  const outline = isOpaque ? undefined : cutOutOutline(image);
  if (outline !== undefined) {
    const mask = await look(outline.box, greySurroundings(outline));
    const rejected = rejectedSamples(image, outline, mask);
    if (rejected !== undefined) return { kind: 'own-alpha', outline, rejected };
  }
  const whole = { left: 0, top: 0, width: image.width, height: image.height };
  const first = await look(whole);
  const around = isOpaque ? plainSurroundings(image) : undefined;
  if (around !== undefined) return { kind: 'mask', mask: higher(first, await look(whole, around)) };
  return { kind: 'mask', mask: await withCloseUp(first, image, look) };
}

/** The higher of two masks of the same area, at the size of the first. */
function higher(mask: Plane, other: Plane): Plane {
  const { data } = resample(other, mask.width, mask.height);
  return { ...mask, data: mask.data.map((value, i) => Math.max(value, data[i] ?? 0)) };
}
