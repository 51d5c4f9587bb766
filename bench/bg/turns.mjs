import { setTimeout as delay } from 'node:timers/promises';

/**
 * Somebody who removes backgrounds, or runs the bare network.
 * @typedef {object} Contender
 * @property {string} name
 * @property {(picture: Picture) => Promise<Run>} run one picture, from the file's bytes to the PNG's
 * @property {() => Promise<number>} peakMiB the most resident memory so far of the process that runs the network
 * @property {() => Promise<void>} stop
 *
 * @typedef {object} Picture
 * @property {number} megapixels
 * @property {string} file a JPEG
 *
 * @typedef {object} Run
 * @property {number} ms
 * @property {Readonly<Record<string, number>>} [stages] milliseconds of each
 */

/** Threads of the one before may still spin. */
const pauseMs = 150;

/**
 * Every contender runs every picture once a round, one at a time, so that whatever else
 * the machine does falls on all alike. A round before the first only warms up.
 * @param {readonly Contender[]} contenders
 * @param {readonly Picture[]} pictures
 * @param {number} rounds
 * @param {(line: string) => void} log
 * @returns {Promise<Map<Contender, Map<Picture, Run[]>>>} runs in the order of the rounds
 */
export async function takeTurns(contenders, pictures, rounds, log) {
  /** @type {Map<Contender, Map<Picture, Run[]>>} */
  const runs = new Map(
    contenders.map((contender) => [contender, new Map(pictures.map((picture) => [picture, []]))]),
  );
  for (let round = 0; round <= rounds; round++) {
    for (const picture of pictures) {
      const line = [];
      for (const contender of contenders) {
        await delay(pauseMs);
        const run = await contender.run(picture);
        line.push(`${contender.name} ${Math.round(run.ms)}`);
        if (round > 0) runs.get(contender)?.get(picture)?.push(run);
      }
      log(`round ${round}, ${picture.megapixels} MP: ${line.join(', ')} ms`);
    }
  }
  return runs;
}
