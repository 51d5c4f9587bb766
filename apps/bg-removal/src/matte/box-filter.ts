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
  const turned = team.addressOf(team.floats(width * down * lanes));
  const rows = team.addressOf(team.floats(width * down * lanes));
  const upright = team.addressOf(team.floats(height * across * lanes));
  const means = team.floats(height * across * lanes);
  const sums = sumsFor(Math.max(across, down), team);
  const { kernels } = team;
  // Four columns are as independent as four channels, and transposed, rows are columns.
  const transpose = (
    from: number,
    size: { width: number; height: number; stride: number },
    to: number,
    stride: number,
  ): void =>
    team.each(Math.ceil(size.height / lanes), (first, last) =>
      kernels.transposeRows({
        source: from,
        stride: size.stride,
        width: size.width,
        height: size.height,
        target: to,
        targetStride: stride,
        top: first * lanes,
        bottom: Math.min(last * lanes, size.height),
      }),
    );
  transpose(team.addressOf(data), { width, height, stride: width }, turned, down * lanes);
  team.each(down, (from, to) =>
    kernels.boxColumns({
      source: turned,
      target: rows,
      sums,
      width: down,
      height: width,
      radius,
      left: from,
      right: to,
    }),
  );
  transpose(rows, { width: height, height: width, stride: down * lanes }, upright, across * lanes);
  const target = team.addressOf(means);
  team.each(across, (from, to) =>
    kernels.boxColumns({
      source: upright,
      target,
      sums,
      width: across,
      height,
      radius,
      left: from,
      right: to,
    }),
  );
  team.each(height, (from, to) => {
    for (let y = from; y < to; y++) {
      const start = y * across * lanes;
      data.set(means.subarray(start, start + width), y * width);
    }
  });
}

/** {@link boxFilter} of four channels at once; replaces `cells`. */
export function boxFilterCells(cells: Cells, radius: number, team: TeamMember): void {
  const { width, height } = cells;
  const at = team.addressOf(cells.data);
  const rows = team.addressOf(createCells(cells, team).data);
  const sums = sumsFor(width, team);
  team.each(height, (from, to) =>
    team.kernels.boxRows({ source: at, target: rows, width, radius, top: from, bottom: to }),
  );
  team.each(width, (from, to) =>
    team.kernels.boxColumns({ source: rows, target: at, sums, width, height, radius, left: from, right: to }),
  );
}

/** Memory for four doubles for each column. */
function sumsFor(columns: number, team: TeamMember): number {
  return team.addressOf(team.bytes(columns * lanes * Float64Array.BYTES_PER_ELEMENT));
}
