/** @typedef {import('../queued-image.js').Stroke} Stroke */
/** @typedef {import('./cut-out-worker.js').Area} Area */

const tileSide = 256;
const tilePixels = tileSide * tileSide;

/**
 * The brush's strokes on an image, drawn in tiles that are created when touched. Needs at most
 * two bytes per pixel, or four during a stroke. A tile stores how much of the cut-out's alpha
 * is kept and how much of the original image is added.
 */
export class StrokeLayer {
  #width;
  #height;
  #across;
  /** @type {Map<number, ReturnType<typeof newTile>>} */
  #tiles = new Map();
  /** How much the stroke in progress covers each pixel. */
  #live = /** @type {Map<number, Uint8Array>} */ (new Map());
  #liveIsErasing = true;
  /** @type {string[]} */
  #ids = [];

  /** @param {number} width @param {number} height */
  constructor(width, height) {
    this.#width = width;
    this.#height = height;
    this.#across = Math.ceil(width / tileSide);
  }

  /**
   * Makes the layer show exactly these strokes. Reuses those already drawn.
   * @param {Stroke[]} strokes @param {number} scale
   */
  setStrokes(strokes, scale) {
    const isThere = this.#ids.every((id, index) => strokes[index]?.id === id);
    if (!isThere) {
      this.#tiles.clear();
      this.#ids = [];
    }
    this.dropUnfinished();
    for (const stroke of strokes.slice(this.#ids.length)) {
      this.extend(stroke, stroke.points, scale);
      this.finish(stroke.id);
    }
  }

  /**
   * Draws more of the stroke in progress.
   * @param {Pick<Stroke, 'erases' | 'hardness'>} stroke `erases` and `hardness` (0-1)
   * @param {Float32Array} points x, y and radius in pixels of the whole image, interleaved; the first point is the stroke's previous position
   * @param {number} scale size of this layer relative to the whole image
   * @returns the area that changed
   */
  extend({ erases, hardness }, points, scale) {
    this.#liveIsErasing = erases;
    const area = { left: Infinity, top: Infinity, right: 0, bottom: 0 };
    const scaled = points.map((value) => value * scale);
    for (let at = 0; at < scaled.length; at += 3) {
      const from = scaled.subarray(Math.max(0, at - 3), Math.max(0, at - 3) + 3);
      const to = scaled.subarray(at, at + 3);
      const box = this.#boxAround(from, to);
      this.#tilesIn(box, (tile, part) => {
        const covered = this.#live.get(tile) ?? new Uint8Array(tilePixels);
        this.#live.set(tile, covered);
        cover(covered, part, from, to, hardness);
      });
      area.left = Math.min(area.left, box.left);
      area.top = Math.min(area.top, box.top);
      area.right = Math.max(area.right, box.right);
      area.bottom = Math.max(area.bottom, box.bottom);
    }
    return area;
  }

  dropUnfinished() {
    this.#live.clear();
  }

  /**
   * Completes the stroke in progress.
   * @param {string} id
   */
  finish(id) {
    for (const [index, covered] of this.#live) {
      const tile = this.#tiles.get(index) ?? newTile();
      this.#tiles.set(index, tile);
      const more = this.#liveIsErasing ? 0 : 1;
      tile.isRestored ||= more === 1;
      for (let at = 0; at < tilePixels; at++) {
        if (covered[at] === 0) continue;
        tile.kept[at] = left(tile.kept[at], covered[at]);
        tile.added[at] = left(tile.added[at], covered[at]) + more * covered[at];
      }
    }
    this.dropUnfinished();
    this.#ids.push(id);
  }

  /**
   * Writes the pixels of an area after applying the strokes.
   * @param {Uint8ClampedArray<ArrayBuffer>} source RGBA of the cut-out at the size of this layer
   * @param {Uint8ClampedArray<ArrayBuffer>} target RGBA of the area; may be the source if the area is the whole image
   * @param {Area} area
   * @param {(part: Area) => Uint8ClampedArray} original returns the RGBA of an area of the original image
   */
  render(source, target, area, original) {
    const width = area.right - area.left;
    this.#tilesIn(area, (index, part) => {
      const tile = this.#tiles.get(index);
      const covered = this.#live.get(index);
      const isPainted = tile !== undefined || covered !== undefined;
      const more = covered === undefined || this.#liveIsErasing ? 0 : 1;
      const behind = more === 1 || tile?.isRestored ? original(part) : undefined;
      for (let y = part.top; y < part.bottom; y++) {
        const from = (y * this.#width + part.left) * 4;
        const to = ((y - area.top) * width + part.left - area.left) * 4;
        const bytes = (part.right - part.left) * 4;
        if (target !== source) target.set(source.subarray(from, from + bytes), to);
        if (!isPainted) continue;
        const inTile = (y % tileSide) * tileSide + (part.left % tileSide);
        const inOriginal = (y - part.top) * bytes;
        for (let x = 0; x < bytes / 4; x++) {
          let kept = tile === undefined ? 255 : tile.kept[inTile + x];
          let added = tile === undefined ? 0 : tile.added[inTile + x];
          const now = covered === undefined ? 0 : covered[inTile + x];
          if (now !== 0) {
            kept = left(kept, now);
            added = left(added, now) + more * now;
          }
          if (kept !== 255 || added !== 0) mix(target, to + x * 4, kept, added, behind, inOriginal + x * 4);
        }
      }
    });
  }

  /** @param {Float32Array} from @param {Float32Array} to */
  #boxAround(from, to) {
    const radius = Math.max(from[2], to[2]) + 1;
    return {
      left: Math.max(0, Math.floor(Math.min(from[0], to[0]) - radius)),
      top: Math.max(0, Math.floor(Math.min(from[1], to[1]) - radius)),
      right: Math.min(this.#width, Math.ceil(Math.max(from[0], to[0]) + radius)),
      bottom: Math.min(this.#height, Math.ceil(Math.max(from[1], to[1]) + radius)),
    };
  }

  /**
   * Calls `visit` with each tile's number in an area, and the part of the area inside it.
   * @param {Area} area
   * @param {(tile: number, part: Area) => void} visit
   */
  #tilesIn({ left, top, right, bottom }, visit) {
    for (let tileTop = top - (top % tileSide); tileTop < bottom; tileTop += tileSide) {
      for (let tileLeft = left - (left % tileSide); tileLeft < right; tileLeft += tileSide) {
        visit((tileTop / tileSide) * this.#across + tileLeft / tileSide, {
          left: Math.max(left, tileLeft),
          top: Math.max(top, tileTop),
          right: Math.min(right, tileLeft + tileSide),
          bottom: Math.min(bottom, tileTop + tileSide),
        });
      }
    }
  }
}

function newTile() {
  return {
    kept: new Uint8Array(tilePixels).fill(255),
    added: new Uint8Array(tilePixels),
    isRestored: false,
  };
}

/**
 * Reduces a share (0-255) by a stroke's coverage.
 * @param {number} share @param {number} covered
 */
function left(share, covered) {
  return Math.round((share * (255 - covered)) / 255);
}

/**
 * Covers the path of a round brush between two points. A stroke doesn't accumulate where it
 * crosses itself.
 * @param {Uint8Array} covered @param {Area} part @param {Float32Array} from @param {Float32Array} to
 * @param {number} hardness
 */
function cover(covered, part, [fromX, fromY, fromRadius], [toX, toY, toRadius], hardness) {
  const [dx, dy] = [toX - fromX, toY - fromY];
  const squared = dx * dx + dy * dy;
  for (let y = part.top; y < part.bottom; y++) {
    let at = (y % tileSide) * tileSide + (part.left % tileSide);
    for (let x = part.left; x < part.right; x++, at++) {
      const px = x + 0.5 - fromX;
      const py = y + 0.5 - fromY;
      const along = squared === 0 ? 0 : Math.min(1, Math.max(0, (px * dx + py * dy) / squared));
      const beside = px - along * dx;
      const above = py - along * dy;
      const radius = Math.max(0.5, fromRadius + (toRadius - fromRadius) * along);
      const distance = Math.sqrt(beside * beside + above * above);
      if (distance >= radius + 0.5) continue;
      // Use at least a one-pixel edge, so that a hard brush is antialiased.
      const inner = Math.min(radius * hardness, radius - 0.5);
      const share = Math.min(1, Math.max(0, (radius + 0.5 - distance) / (radius + 0.5 - inner)));
      const value = Math.round(255 * share * share * (3 - 2 * share));
      if (value > covered[at]) covered[at] = value;
    }
  }
}

/**
 * Blends one pixel of the cut-out with the original; both have straight alpha.
 * @param {Uint8ClampedArray<ArrayBuffer>} target @param {number} at @param {number} kept
 * @param {number} added
 * @param {Uint8ClampedArray | undefined} original needed where something is added
 * @param {number} from
 */
function mix(target, at, kept, added, original, from) {
  const cut = (target[at + 3] * kept) / 255;
  const restored = added === 0 || original === undefined ? 0 : (original[from + 3] * added) / 255;
  const alpha = cut + restored;
  if (original !== undefined && restored > 0) {
    for (let channel = 0; channel < 3; channel++) {
      target[at + channel] = (target[at + channel] * cut + original[from + channel] * restored) / alpha;
    }
  }
  if (alpha < 0.5) target.fill(0, at, at + 4);
  else target[at + 3] = alpha;
}
