import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Rectangle } from '../images/output.js';
import type { RgbaImage } from '../images/rgba-image.js';
import type { OwnAlpha } from '../matte/find-subject.js';
import { keepOwnAlpha } from '../matte/keep-own-alpha.js';
import type { Plane } from '../matte/plane.js';
import { createSharedMemory, TeamMember, type SharedMemory } from '../matte/team-member.js';
import type { Tuning } from '../matte/tuning.js';
import { SharedImage, type Size } from './shared-image.js';
import { fromThreadSchema, type ToThread } from './task.js';

/**
 * The main thread and a second one, which work on one image after the other. While the network
 * works, it needs all cores; before and afterwards this image would leave one idle. The second
 * thread takes parts of the work whenever it is ready: the first never waits for it to start.
 */
export class ThreadTeam implements AsyncDisposable {
  readonly #shared: SharedMemory;
  readonly #worker: Worker | undefined;
  readonly #started: Promise<void>;
  #isReady = false;
  /** Steps that the second thread has not done yet. */
  #pending = 0;
  #onDone: () => void = () => undefined;

  /** @param maxBytes of the memory that the threads share */
  constructor(maxBytes: number, cores = availableParallelism()) {
    this.#shared = createSharedMemory(maxBytes);
    const script = new URL('./pixel-thread.js', import.meta.url);
    this.#worker = cores < 2 ? undefined : new Worker(script, { workerData: this.#shared });
    this.#started = new Promise((resolve) => {
      if (this.#worker === undefined) resolve();
      // An error event without a listener ends the process, as it should.
      this.#worker?.on('message', (raw) => {
        if (fromThreadSchema.parse(raw) === 'done') {
          this.#pending -= 1;
          if (this.#pending === 0) this.#onDone();
          return;
        }
        this.#isReady = true;
        resolve();
      });
      // Only the channel to the parent keeps the process alive. A listener would undo this, so it comes last.
      this.#worker?.unref();
    });
  }

  /** Waits until the second thread can take part. */
  async start(): Promise<void> {
    await this.#started;
  }

  /**
   * Takes the next image, when the second thread has left the previous one.
   * @param hasAlpha whether it may have pixels that are not opaque
   */
  async begin(image: RgbaImage, hasAlpha: boolean): Promise<TeamImage> {
    await this.end();
    this.#shared.progress.fill(0);
    const member = new TeamMember(this.#shared, 0);
    const { width, height } = image;
    const data = member.place(image.data);
    // A thread that is not ready yet would miss the first steps.
    const worker = this.#isReady ? this.#worker : undefined;
    const tell = (message: ToThread): void => {
      if (worker === undefined) return;
      this.#pending += 1;
      worker.postMessage(message);
    };
    tell({ step: 'image', size: { width, height }, hasAlpha });
    const shared = new SharedImage(member, { width, height, data }, hasAlpha);
    return new TeamImage(shared, tell, () => this.end());
  }

  /** Waits until the second thread has left the image. */
  async end(): Promise<void> {
    if (this.#pending === 0) return;
    await new Promise<void>((resolve) => (this.#onDone = resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker?.terminate();
  }
}

/** An image that all threads work on. */
export class TeamImage {
  readonly #shared: SharedImage;
  readonly #tell: (message: ToThread) => void;
  readonly #end: () => Promise<void>;
  /** A thread may still be in a step whose memory is free. */
  #hasFreed = false;

  /** @param end waits until the second thread has done the steps so far */
  constructor(shared: SharedImage, tell: (message: ToThread) => void, end: () => Promise<void>) {
    this.#shared = shared;
    this.#tell = tell;
    this.#end = end;
  }

  get image(): RgbaImage {
    return this.#shared.image;
  }

  /** Whether no pixel is transparent. */
  get isOpaque(): boolean {
    return this.#shared.isOpaque;
  }

  /** The network's view of a part of the image, as interleaved RGB. */
  async view(area: Rectangle, size: Size): Promise<Uint8Array> {
    await this.#settle();
    this.#tell({ step: 'view', area, size });
    this.#hasFreed = true;
    return this.#shared.view(area, size, (rgb) => rgb.slice());
  }

  /** Turns the image into its cut-out, in place, and returns its visible part, if any. */
  async cutOut({ width, height, data }: Plane, tuning: Tuning): Promise<Rectangle | undefined> {
    await this.#settle();
    const mask = { width, height, data: this.#shared.member.place(data) };
    this.#tell({ step: 'cut-out', mask: { width, height }, tuning });
    return this.#shared.cutOut(mask, tuning);
  }

  /** {@link keepOwnAlpha}, by one thread. */
  async keepOwnAlpha(found: OwnAlpha, tuning: Tuning): Promise<Rectangle | undefined> {
    await this.#settle();
    return keepOwnAlpha(this.image, found, tuning, this.#shared.member);
  }

  async #settle(): Promise<void> {
    if (this.#hasFreed) await this.#end();
    this.#hasFreed = false;
  }
}
