import sharp from 'sharp';
import type { SamplePicture } from '@media-services/fault-site';
import { Findings, type Verdict } from './findings.js';

const minimumIntersectionOverUnion = 0.95;
/** Maximum share of transparent pixels that may keep a colour, for soft edges. */
const maximumColouredShare = 0.01;

/** Checks every pixel of a cut-out of the sample image. */
export async function checkCutout(png: Buffer, truth: SamplePicture): Promise<Verdict> {
  const findings = new Findings();
  const { format } = await sharp(png).metadata();
  const { data, info } = await sharp(png).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  findings.expect(format === 'png', `the response is ${format}, not png`);
  if (info.width !== truth.width || info.height !== truth.height) {
    return { problems: [`the size is ${info.width}×${info.height}`], summary: 'wrong size' };
  }
  const seen = compare(data, truth.mask);
  const overlap = seen.both / seen.either;
  const coloured = seen.coloured / Math.max(1, seen.transparent);
  findings.expect(seen.transparent > 0.9 * seen.background, 'the background is not transparent');
  findings.expect(seen.opaque > 0.9 * seen.subject, 'the subject is not opaque');
  findings.expect(
    overlap >= minimumIntersectionOverUnion,
    `the cut-out overlaps the subject by ${overlap.toFixed(3)} only`,
  );
  findings.expect(
    coloured <= maximumColouredShare,
    `${(coloured * 100).toFixed(1)} % of the transparent pixels still have a colour`,
  );
  return {
    problems: findings.problems,
    summary: `PNG ${info.width}×${info.height}, overlap with the subject ${overlap.toFixed(3)}`,
  };
}

/**
 * Counts pixels.
 * @param rgba four bytes a pixel
 * @param mask one byte a pixel
 */
function compare(rgba: Buffer, mask: Buffer) {
  const seen = { both: 0, either: 0, subject: 0, background: 0, opaque: 0, transparent: 0, coloured: 0 };
  for (let pixel = 0; pixel < mask.length; pixel += 1) {
    const at = pixel * 4;
    const alpha = rgba.readUInt8(at + 3);
    const isSubject = mask.readUInt8(pixel) >= 128;
    const isCut = alpha >= 128;
    seen.subject += Number(isSubject);
    seen.background += Number(!isSubject);
    seen.both += Number(isSubject && isCut);
    seen.either += Number(isSubject || isCut);
    seen.opaque += Number(alpha >= 250);
    seen.transparent += Number(alpha === 0);
    const hasColour = (rgba.readUInt8(at) | rgba.readUInt8(at + 1) | rgba.readUInt8(at + 2)) !== 0;
    seen.coloured += Number(alpha === 0 && hasColour);
  }
  return seen;
}
