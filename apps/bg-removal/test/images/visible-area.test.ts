import { visibleArea } from '../../dist/images/encode.js';

function imageWith(width: number, height: number, visible: readonly (readonly [number, number])[]) {
  const data = new Uint8Array(width * height * 4);
  for (const [x, y] of visible) data[(y * width + x) * 4 + 3] = 1;
  return { width, height, data };
}

test.each([
  ['one pixel', [[2, 3]], { left: 2, top: 3, width: 1, height: 1 }],
  [
    'opposite corners',
    [
      [6, 0],
      [0, 4],
    ],
    { left: 0, top: 0, width: 7, height: 5 },
  ],
  [
    'a wide row above a narrow one',
    [
      [1, 1],
      [5, 1],
      [3, 3],
    ],
    { left: 1, top: 1, width: 5, height: 3 },
  ],
  [
    'a narrow row above a wide one',
    [
      [3, 1],
      [2, 2],
      [4, 2],
    ],
    { left: 2, top: 1, width: 3, height: 2 },
  ],
] as const)('finds the bounding box of %s', (_, visible, area) => {
  expect(visibleArea(imageWith(7, 5, visible))).toEqual(area);
});

test('finds none in an invisible image', () => {
  expect(visibleArea(imageWith(7, 5, []))).toBeUndefined();
});
