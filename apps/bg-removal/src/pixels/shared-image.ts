import type { Rectangle } from '../images/output.js';
import type { RgbaImage } from '../images/rgba-image.js';
import { cutOut, defaultSteps } from '../matte/cut-out.js';
import { viewForModel } from '../matte/model-view.js';
import { pictureOf, type Picture } from '../matte/own-alpha.js';
import type { Plane } from '../matte/plane.js';
import type { TeamMember } from '../matte/team-member.js';
import type { Tuning } from '../matte/tuning.js';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** An image in shared memory, as one of the threads works on it. All of them take the same steps. */
export class SharedImage {
  readonly image: RgbaImage;
  readonly member: TeamMember;
  readonly #hasAlpha: boolean;
  #picture: Picture | undefined;

  /** @param image in the member's memory */
  constructor(member: TeamMember, image: RgbaImage, hasAlpha: boolean) {
    this.member = member;
    this.image = image;
    this.#hasAlpha = hasAlpha;
  }

  /** Whether no pixel is transparent. */
  get isOpaque(): boolean {
    return this.#seen().seen === this.image;
  }

  /**
   * {@link viewForModel}.
   * @param use gets the view in shared memory that is freed afterwards
   */
  view<T>(area: Rectangle, { width, height }: Size, use: (rgb: Uint8Array) => T): T {
    const { seen } = this.#seen();
    return this.member.freeAfter(() => use(viewForModel(seen, area, width, height, this.member)));
  }

  /**
   * {@link cutOut}.
   * @param mask in the member's memory
   */
  cutOut(mask: Plane, tuning: Tuning): Rectangle | undefined {
    return cutOut(this.#seen(), mask, tuning, defaultSteps, this.member);
  }

  #seen(): Picture {
    this.#picture ??= pictureOf(this.image, this.#hasAlpha, this.member);
    return this.#picture;
  }
}
