import { createCells, type Cells } from './grid.js';
import type { Plane } from './plane.js';
import type { TeamMember } from './team-member.js';

/** Floats of a vector. */
const lanes = 4;

/**
 * Mean over a square window of side `2 × radius + 1`, clipped at the borders; replaces the plane.
 * Uses running sums, so the cost per pixel does not depend on the radius.
 */
export function boxFilter(plane: Plane, radius: number, team: TeamMember): void {
  const { width, height, data } = plane;
  const across = Math.ceil(width / lanes);
  const down = Math.ceil(height / lanes);
  const turned = team.floats(width * down * lanes);
  const rows = team.floats(width * down * lanes);
  const upright = team.floats(height * across * lanes);
  const means = team.floats(height * across * lanes);
  const sums = sumsFor(Math.max(across, down), team);
  // Four columns are as independent as four channels, and transposed, rows are columns.
  const transpose = (
    source: Float32Array,
    size: { width: number; height: number; stride: number },
    target: Float32Array,
    targetStride: number,
  ): void =>
    team.each(Math.ceil(size.height / lanes), (from, to) =>
      team.call('transposeRows', {
        source,
        ...size,
        target,
        targetStride,
        top: from * lanes,
        bottom: Math.min(to * lanes, size.height),
      }),
    );
  transpose(data, { width, height, stride: width }, turned, down * lanes);
  team.run('boxColumns', down, {
    source: turned,
    target: rows,
    sums,
    width: down,
    height: width,
    radius,
  });
  transpose(rows, { width: height, height: width, stride: down * lanes }, upright, across * lanes);
  team.run('boxColumns', across, {
    source: upright,
    target: means,
    sums,
    width: across,
    height,
    radius,
  });
  team.each(height, (from, to) => {
    for (let y = from; y < to; y++) {
      const start = y * across * lanes;
      data.set(means.subarray(start, start + width), y * width);
    }
  });
}

/** {@link boxFilter} of four channels at once; replaces `cells`. */
export function boxFilterCells(cells: Cells, radius: number, team: TeamMember): void {
  const { width, height, data } = cells;
  const rows = createCells(cells, team).data;
  const sums = sumsFor(width, team);
  team.run('boxRows', height, { source: data, target: rows, width, radius });
  team.run('boxColumns', width, { source: rows, target: data, sums, width, height, radius });
}

/** Memory for four doubles for each column. */
function sumsFor(columns: number, team: TeamMember): Uint8Array {
  return team.bytes(columns * lanes * Float64Array.BYTES_PER_ELEMENT);
}
