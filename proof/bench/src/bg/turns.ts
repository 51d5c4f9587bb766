import { setTimeout as delay } from 'node:timers/promises';

/** A program that removes backgrounds or runs only the network. */
export interface Contender {
  readonly name: string;
  /** Processes one image, from the file's bytes to the PNG. */
  run(picture: Picture): Promise<Run>;
  /** The most resident memory so far of the process that runs the network. */
  peakMiB(): Promise<number>;
  stop(): Promise<void>;
}

export interface Picture {
  readonly megapixels: number;
  /** A JPEG. */
  readonly file: string;
}

export interface Run {
  readonly ms: number;
  /** Milliseconds of each. */
  readonly stages?: Readonly<Record<string, number>>;
}

/** The runs in the order of the rounds. */
export type Runs = ReadonlyMap<Contender, ReadonlyMap<Picture, readonly Run[]>>;

/** Pause between contenders, because the previous one's threads may still spin. */
const pauseMs = 150;

/**
 * Every contender processes every image once per round, one at a time, so that other load on
 * the machine affects all equally. The first round is only a warm-up.
 */
export async function takeTurns(
  contenders: readonly Contender[],
  pictures: readonly Picture[],
  rounds: number,
  log: (line: string) => void,
): Promise<Runs> {
  const runs = new Map(
    contenders.map((contender) => [
      contender,
      new Map(pictures.map((picture): [Picture, Run[]] => [picture, []])),
    ]),
  );
  for (let round = 0; round <= rounds; round++) {
    for (const picture of pictures) {
      const line: string[] = [];
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
