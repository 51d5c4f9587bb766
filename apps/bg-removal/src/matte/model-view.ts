import type { Rectangle } from '../images/output.js';
import type { RgbaImage } from '../images/rgba-image.js';
import { fixedPointTaps } from './taps.js';
import type { TeamMember } from './team-member.js';

/** Kernels read whole vectors of four pixels. */
const pixelsAtOnce = 4;
/**
 * Pixels by which libvips's enlarged images are late. Aligned ones make some groups of the
 * benchmark's pictures better by a tenth and others worse by as much.
 */
const enlargedLate = 0.5;

/** A part of an image in the shared memory. */
interface Pixels {
  readonly address: number;
  /** Bytes of a row. */
  readonly stride: number;
  readonly width: number;
  readonly height: number;
}

/**
 * The network's view of a part of an opaque image: interleaved RGB, resized to the input size
 * without keeping proportions, with Lanczos's kernel of three lobes, or a cubic one to enlarge.
 * Large images are halved first, which takes a fraction of the time.
 */
export function viewForModel(
  image: RgbaImage,
  area: Rectangle,
  width: number,
  height: number,
  team: TeamMember,
): Uint8Array {
  const stride = image.width * 4;
  let source: Pixels = {
    address: team.addressOf(image.data) + area.top * stride + area.left * 4,
    stride,
    width: area.width,
    height: area.height,
  };
  while (source.width >= 2 * width && source.height >= 2 * height) source = halved(source, team);
  const late = source.width < width || source.height < height ? enlargedLate : 0;
  const columns = withHeight(source, height, late, team);
  return withWidth(columns, width, late, team);
}

function createPixels(width: number, height: number, team: TeamMember): Pixels {
  const stride = Math.ceil(width / pixelsAtOnce) * pixelsAtOnce * 4;
  return { address: team.addressOf(team.bytes(stride * height)), stride, width, height };
}

function halved(source: Pixels, team: TeamMember): Pixels {
  const target = createPixels(Math.ceil(source.width / 2), Math.ceil(source.height / 2), team);
  const { address, stride, width, height } = source;
  team.each(target.height, (from, to) =>
    team.kernels.halveRows(address, stride, width, height, target.address, target.stride, from, to),
  );
  return target;
}

function withHeight(source: Pixels, height: number, late: number, team: TeamMember): Pixels {
  const target = createPixels(source.width, height, team);
  const { firsts, weights, count } = fixedPointTaps(source.height, height, late, 2);
  const [rows, shares] = [team.addressOf(team.place(firsts)), team.addressOf(team.place(weights))];
  team.each(height, (from, to) =>
    team.kernels.resizeColumns(
      source.address,
      source.stride,
      source.width,
      source.height,
      target.address,
      target.stride,
      rows,
      shares,
      count,
      from,
      to,
    ),
  );
  return target;
}

function withWidth(
  { address, stride, width: sourceWidth, height }: Pixels,
  width: number,
  late: number,
  team: TeamMember,
): Uint8Array {
  const view = team.bytes(width * height * 3);
  const target = team.addressOf(view);
  const { firsts, weights, count } = fixedPointTaps(sourceWidth, width, late, pixelsAtOnce);
  const [columns, shares] = [team.addressOf(team.place(firsts)), team.addressOf(team.place(weights))];
  team.each(height, (from, to) =>
    team.kernels.resizeRows(address, stride, target, width, columns, shares, count, from, to),
  );
  return view;
}
