import { execa } from 'execa';

interface Stroke {
  readonly id: string;
  readonly erases: boolean;
  readonly hardness: number;
  readonly points: Float32Array;
}
interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}
interface Layer {
  setStrokes(strokes: readonly Stroke[], scale: number): void;
  extend(stroke: Stroke, points: Float32Array, scale: number): Area;
  finish(id: string): void;
  render(
    source: Uint8ClampedArray,
    target: Uint8ClampedArray,
    area: Area,
    original: (part: Area) => Uint8ClampedArray,
  ): void;
}

const url = new URL('../html/js/image/worker/strokes.js', import.meta.url).href;
const { StrokeLayer } = (await import(url)) as { StrokeLayer: new (width: number, height: number) => Layer };

const [width, height] = [600, 400];
const all = { left: 0, top: 0, right: width, bottom: height };
/** Half-transparent grey on the left half, nothing on the right one. */
const cutOut = new Uint8ClampedArray(width * height * 4);
for (let at = 0; at < cutOut.length; at += 4) {
  if ((at / 4) % width < width / 2) cutOut.set([100, 100, 100, 200], at);
}
/** An original of one colour. */
const original = ({ left, top, right, bottom }: Area) => {
  const pixels = new Uint8ClampedArray((right - left) * (bottom - top) * 4);
  for (let at = 0; at < pixels.length; at += 4) pixels.set([0, 0, 250, 255], at);
  return pixels;
};

function stroke(erases: boolean, points: readonly number[], hardness = 1): Stroke {
  return { id: String(Math.random()), erases, hardness, points: Float32Array.from(points) };
}

function rendered(layer: Layer): (x: number, y: number) => number[] {
  const target = new Uint8ClampedArray(cutOut.length);
  layer.render(cutOut, target, all, original);
  return (x, y) => [...target.subarray((y * width + x) * 4, (y * width + x) * 4 + 4)];
}

const across = [50, 200, 20, 550, 200, 20];

it('erases and restores only along a stroke', () => {
  const layer = new StrokeLayer(width, height);
  layer.setStrokes([stroke(true, across), stroke(false, [500, 200, 30])], 1);
  const at = rendered(layer);
  expect(at(250, 200)).toEqual([0, 0, 0, 0]);
  expect(at(250, 182)).toEqual([0, 0, 0, 0]);
  expect(at(250, 177)).toEqual([100, 100, 100, 200]);
  expect(at(500, 200)).toEqual([0, 0, 250, 255]);
  expect(at(500, 240)).toEqual([0, 0, 0, 0]);
});

it('has soft edges according to the hardness, and doesn’t accumulate within one stroke', () => {
  const soft = new StrokeLayer(width, height);
  // Back and forth over the same position.
  soft.setStrokes([stroke(true, [...across, ...across], 0)], 1);
  const once = new StrokeLayer(width, height);
  once.setStrokes([stroke(true, across, 0)], 1);
  for (const y of [182, 190, 195]) expect(rendered(soft)(250, y)).toEqual(rendered(once)(250, y));
  const alphas = [180, 186, 192, 199].map((y) => rendered(once)(250, y)[3] ?? 0);
  expect(alphas).toEqual([...alphas].sort((left, right) => right - left));
  expect(alphas[1]).toBeGreaterThan(20);
  expect(alphas[1]).toBeLessThan(190);
});

it('keeps the colour of the cut-out where it only adds to its alpha', () => {
  const layer = new StrokeLayer(width, height);
  layer.setStrokes([stroke(false, [100, 100, 30], 0)], 1);
  const [, , blue = 0, alpha = 0] = rendered(layer)(100, 85);
  expect(blue).toBeGreaterThan(100);
  expect(blue).toBeLessThan(250);
  expect(alpha).toBeGreaterThan(200);
});

it('gives the same result drawn in parts, at once, or after undoing other strokes', () => {
  const [first, second] = [stroke(true, across, 0.5), stroke(false, [300, 100, 25, 300, 300, 25], 0.5)];
  const parts = new StrokeLayer(width, height);
  parts.extend(first, first.points.slice(0, 3), 1);
  parts.extend(first, first.points, 1);
  parts.finish(first.id);
  parts.extend(second, second.points, 1);
  parts.finish(second.id);
  const undone = new StrokeLayer(width, height);
  undone.setStrokes([first, stroke(true, [10, 10, 50]), second], 1);
  undone.setStrokes([first, second], 1);
  const atOnce = new StrokeLayer(width, height);
  atOnce.setStrokes([first, second], 1);
  const expected = new Uint8ClampedArray(cutOut.length);
  atOnce.render(cutOut, expected, all, original);
  for (const layer of [parts, undone]) {
    const target = new Uint8ClampedArray(cutOut.length);
    layer.render(cutOut, target, all, original);
    expect(Buffer.from(target.buffer).equals(Buffer.from(expected.buffer))).toBe(true);
  }
});

it('covers the same share of a smaller copy', () => {
  const layer = new StrokeLayer(width / 2, height / 2);
  layer.setStrokes([stroke(true, across)], 0.5);
  const small = new Uint8ClampedArray(((width * height) / 4) * 4).fill(200);
  const target = new Uint8ClampedArray(small.length);
  layer.render(small, target, { ...all, right: width / 2, bottom: height / 2 }, original);
  const alphaAt = (x: number, y: number) => target[((y * width) / 2 + x) * 4 + 3];
  expect([alphaAt(125, 100), alphaAt(125, 92), alphaAt(125, 86)]).toEqual([0, 0, 200]);
});

it('needs at most four bytes per pixel for 50 megapixels, with any number of strokes', async () => {
  // Runs in a process without Jest, whose globals are slow.
  const script = `
    const { StrokeLayer } = await import(process.argv[1]);
    const [width, height] = [8660, 5774];
    const layer = new StrokeLayer(width, height);
    const before = process.memoryUsage().arrayBuffers;
    // Narrow, because it is the touched tiles of 256 x 256 pixels that need memory.
    const strokes = Array.from({ length: 40 }, (_, index) => {
      const points = Float32Array.of(0, index * 145, 10, width, index * 145, 10);
      return { id: String(index), erases: index % 2 === 0, hardness: 1, points };
    });
    layer.setStrokes([...strokes, ...strokes], 1);
    console.log((process.memoryUsage().arrayBuffers - before) / (width * height));`;
  const { stdout } = await execa('node', ['--input-type=module', '--eval', script, '--', url]);
  expect(Number(stdout)).toBeGreaterThan(1);
  expect(Number(stdout)).toBeLessThan(4.2);
});
