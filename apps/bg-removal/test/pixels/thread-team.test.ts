import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { isNight } from '../../../../proof/vitest/at-night.js';
import type { RgbaImage } from '../../src/images/rgba-image.js';
import { cutOut, defaultSteps } from '../../src/matte/cut-out.js';
import { pictureOf } from '../../src/matte/own-alpha.js';
import type { Plane } from '../../src/matte/plane.js';
import { createSharedMemory, TeamMember } from '../../src/matte/team-member.js';
import { defaultTuning } from '../../src/matte/tuning.js';
import { ThreadTeam } from '../../src/pixels/thread-team.js';
import { cutOut as cutOutAlone, viewForModel } from '../support/matte.js';

const maxBytes = 512 * 1024 ** 2;

interface Scene {
  readonly width: number;
  readonly height: number;
  readonly seed: number;
  readonly maskSide: number;
  readonly softness: number;
  readonly hasOwnAlpha: boolean;
}

function noise({ width, height, seed, hasOwnAlpha }: Scene): RgbaImage {
  const data = new Uint8Array(width * height * 4);
  for (let i = 0; i < data.length; i++) {
    const value = ((i + seed) * 7919) % 251;
    data[i] = i % 4 !== 3 || (hasOwnAlpha && value < 80) ? value : 255;
  }
  return { width, height, data };
}

/** A disc with a hard, soft or wide edge. */
function disc({ maskSide: side, softness }: Scene): Plane {
  const data = Float32Array.from({ length: side * side }, (_, i) => {
    const distance = Math.hypot((i % side) / side - 0.5, Math.floor(i / side) / side - 0.5);
    return Math.min(1, Math.max(0, 0.5 + (0.3 - distance) / softness));
  });
  return { width: side, height: side, data };
}

test('two threads return the same bytes as one', async () => {
  await using team = new ThreadTeam(maxBytes, 2);
  await team.start();
  const sides = fc.integer({ min: 1, max: 200 });
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        width: sides,
        height: sides,
        seed: fc.nat(1000),
        maskSide: fc.integer({ min: 8, max: 256 }),
        softness: fc.constantFrom(0.001, 0.1, 1),
        hasOwnAlpha: fc.boolean(),
      }),
      fc.record({
        threshold: fc.constantFrom(0, 12, 200),
        feather: fc.constantFrom(0, 2, 9),
        foregroundStrength: fc.constantFrom(0.6, 1, 1.5),
      }),
      async (scene, tuning) => {
        const expected = noise(scene);
        const subject = cutOutAlone(expected, disc(scene), tuning);
        const shared = await team.begin(noise(scene), true);
        const { width, height } = scene;
        const view = await shared.view({ left: 0, top: 0, width, height }, { width: 40, height: 40 });
        expect(Buffer.compare(view, viewForModel(noise(scene), 40, 40))).toBe(0);
        expect(await shared.cutOut(disc(scene), tuning)).toEqual(subject);
        expect(Buffer.compare(shared.image.data, expected.data)).toBe(0);
      },
    ),
    { numRuns: isNight ? 30 : 15 },
  );
});

describe('a member of a team', () => {
  const scene = { width: 301, height: 203, seed: 1, maskSide: 64, softness: 1, hasOwnAlpha: true };
  const workOn = (member: TeamMember, image: RgbaImage) => {
    const data = member.place(image.data);
    const mask = disc(scene);
    const values = member.place(mask.data);
    return () => {
      const picture = pictureOf({ ...image, data }, true, member);
      const subject = cutOut(picture, { ...mask, data: values }, defaultTuning, defaultSteps, member);
      return { subject, data };
    };
  };

  test('that comes when all is done changes nothing', () => {
    const shared = createSharedMemory(maxBytes);
    const expected = noise(scene);
    cutOutAlone(expected, disc(scene), defaultTuning);
    const [first, late] = [new TeamMember(shared, 0), new TeamMember(shared, 1)];
    const [work, workLate] = [workOn(first, noise(scene)), workOn(late, noise(scene))];
    work();
    const { subject, data } = workLate();
    expect(subject).toBeDefined();
    expect(Buffer.compare(data, expected.data)).toBe(0);
  });

  test('ends the work of the others if it fails', () => {
    const shared = createSharedMemory(maxBytes);
    const [first, second] = [new TeamMember(shared, 0), new TeamMember(shared, 1)];
    const fail = () => {
      throw new Error('broken');
    };
    expect(() => first.each(2, fail)).toThrow('broken');
    expect(() => second.each(2, () => undefined)).toThrow('Another thread failed.');
  });

  test('is done at once when there is nothing to do', () => {
    const parts: number[] = [];
    new TeamMember(createSharedMemory(maxBytes), 0).each(0, (from) => parts.push(from));
    expect(parts).toEqual([]);
  });

  test('gets no more memory than the limit', () => {
    const member = new TeamMember(createSharedMemory(1024 ** 2), 0);
    expect(member.bytes(900_000)).toHaveLength(900_000);
    expect(() => member.bytes(900_000)).toThrow(RangeError);
  });

  test('gives kernels no array of other memory', () => {
    const member = new TeamMember(createSharedMemory(maxBytes), 0);
    expect(() => member.addressOf(new Uint8Array(8))).toThrow('shared memory');
    expect(member.addressOf(member.place(Uint8Array.of(1)))).toBe(0);
  });
});

test('a pixel process ends with its parent, also with its second thread running', async () => {
  const script = fileURLToPath(new URL('../../dist/pixels/pixel-process.js', import.meta.url));
  const settings = { maxMemoryBytes: 2 * 1024 ** 3, keptMemoryBytes: 0, warmUpRounds: 0 };
  const child = fork(script, [JSON.stringify(settings)], { serialization: 'advanced' });
  await once(child, 'message');
  child.disconnect();
  expect(await once(child, 'exit')).toEqual([0, null]);
});
