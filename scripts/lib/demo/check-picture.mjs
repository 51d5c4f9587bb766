import { loadSharp } from './sharp.mjs';

const minimumIntersectionOverUnion = 0.95;
/** Transparent pixels may keep colour for the edge's sake, no more than this share. */
const maximumColouredShare = 0.01;

/**
 * Looks at every pixel of a cut-out.
 * @param {Buffer} png
 * @param {{ width: number, height: number, mask: Buffer }} truth
 * @returns {Promise<{ problems: string[], summary: string }>}
 */
export async function checkCutout(png, truth) {
  const sharp = loadSharp();
  const { format } = await sharp(png).metadata();
  const { data, info } = await sharp(png).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  const problems = [];
  const expect = (condition, problem) => condition || problems.push(problem);
  expect(format === 'png', `the answer is ${format}, not png`);
  if (info.width !== truth.width || info.height !== truth.height) {
    return { problems: [`the size is ${info.width}×${info.height}`], summary: 'wrong size' };
  }
  const seen = compare(data, truth.mask);
  const overlap = seen.both / seen.either;
  const coloured = seen.coloured / Math.max(1, seen.transparent);
  expect(seen.transparent > 0.9 * seen.background, 'the background is not transparent');
  expect(seen.opaque > 0.9 * seen.subject, 'the subject is not opaque');
  expect(
    overlap >= minimumIntersectionOverUnion,
    `the cut-out overlaps the subject by ${overlap.toFixed(3)} only`,
  );
  expect(
    coloured <= maximumColouredShare,
    `${(coloured * 100).toFixed(1)} % of the transparent pixels still have a colour`,
  );
  return {
    problems,
    summary: `PNG ${info.width}×${info.height}, overlap with the subject ${overlap.toFixed(3)}`,
  };
}

function compare(rgba, mask) {
  const seen = { both: 0, either: 0, subject: 0, background: 0, opaque: 0, transparent: 0, coloured: 0 };
  for (let pixel = 0; pixel < mask.length; pixel += 1) {
    const at = pixel * 4;
    const alpha = rgba[at + 3];
    const isSubject = mask[pixel] >= 128;
    const isCut = alpha >= 128;
    seen.subject += isSubject;
    seen.background += !isSubject;
    seen.both += isSubject && isCut;
    seen.either += isSubject || isCut;
    seen.opaque += alpha >= 250;
    seen.transparent += alpha === 0;
    seen.coloured += alpha === 0 && (rgba[at] | rgba[at + 1] | rgba[at + 2]) !== 0;
  }
  return seen;
}
