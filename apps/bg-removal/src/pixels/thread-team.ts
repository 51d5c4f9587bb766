import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { RgbaImage } from '../images/rgba-image.js';
import { cutOut, defaultSteps } from '../matte/cut-out.js';
import type { Plane } from '../matte/plane.js';
import { createSharedMemory, TeamMember, type SharedMemory } from '../matte/team-member.js';
import type { Tuning } from '../matte/tuning.js';
import { fromThreadSchema, type ToThread } from './task.js';

/**
 * The main thread and a second one, which make the mattes of one image after the other. While
 * the network works, it needs all cores; afterwards this image would leave one idle. The second
 * thread takes parts of the work whenever it is ready: the first never waits for it to start.
 */
export class ThreadTeam implements AsyncDisposable {
  readonly #shared: SharedMemory;
  readonly #worker: Worker | undefined;
  readonly #started: Promise<void>;
  #isReady = false;
  #hasLeft = Promise.resolve();
  #onLeft: () => void = () => undefined;

  /** @param maxBytes of the memory that the threads share */
  constructor(maxBytes: number, cores = availableParallelism()) {
    this.#shared = createSharedMemory(maxBytes);
    const script = new URL('./pixel-thread.js', import.meta.url);
    this.#worker = cores < 2 ? undefined : new Worker(script, { workerData: this.#shared });
    this.#started = new Promise((resolve) => {
      if (this.#worker === undefined) resolve();
      // An error event without a listener ends the process, as it should.
      this.#worker?.on('message', (raw) => {
        if (fromThreadSchema.parse(raw) === 'left') {
          this.#onLeft();
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

  /** Takes the next image, when the second thread has left the previous one. */
  async begin(image: RgbaImage): Promise<SharedImage> {
    await this.end();
    this.#shared.progress.fill(0);
    const member = new TeamMember(this.#shared, 0);
    const { width, height } = image;
    const data = member.place(image.data);
    const call = (message: ToThread): void => {
      if (!this.#isReady || this.#worker === undefined) return;
      this.#hasLeft = new Promise((resolve) => (this.#onLeft = resolve));
      this.#worker.postMessage(message);
    };
    return new SharedImage({ width, height, data }, member, call);
  }

  /** Waits until the second thread has left the image. */
  async end(): Promise<void> {
    await this.#hasLeft;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker?.terminate();
  }
}

/** An image in memory that the threads share. */
export class SharedImage {
  readonly image: RgbaImage;
  readonly #member: TeamMember;
  readonly #call: (message: ToThread) => void;

  constructor(image: RgbaImage, member: TeamMember, call: (message: ToThread) => void) {
    this.image = image;
    this.#member = member;
    this.#call = call;
  }

  /** {@link cutOut} by all threads. */
  cutOut(mask: Plane, tuning: Tuning): boolean {
    const data = this.#member.place(mask.data);
    const [image, copy] = [this.image, { width: mask.width, height: mask.height, data }];
    this.#call({
      image: { width: image.width, height: image.height },
      mask: { width: mask.width, height: mask.height },
      tuning,
    });
    return cutOut(image, copy, tuning, defaultSteps, this.#member);
  }
}
