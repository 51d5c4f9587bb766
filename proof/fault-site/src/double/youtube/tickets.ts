import { randomBytes } from 'node:crypto';
import { solveSignature, solveThrottling } from './player-script.js';
import type { Video } from './videos.js';

/** The permissions of one video response; media servers identify it by its name in the URL. */
export interface Ticket {
  readonly name: string;
  readonly id: string;
  readonly video: Video;
  /** As the page states them, unsolved. */
  readonly throttling: string;
  readonly signature: string;
  /** Milliseconds since the epoch. */
  readonly availableAt: number;
  /** Seconds since the epoch. */
  readonly expire: number;
}

/** Whether its media are currently available. */
export function isServed({ video, availableAt }: Ticket): boolean {
  return !video.isRefused && Date.now() >= availableAt;
}

/** The tickets issued so far. */
export class Tickets {
  readonly #tickets = new Map<string, Ticket>();

  issue(id: string, video: Video): Ticket {
    const ticket: Ticket = {
      name: randomBytes(8).toString('hex'),
      id,
      video,
      throttling: randomBytes(12).toString('base64url'),
      signature: randomBytes(40).toString('hex'),
      availableAt: Date.now() + video.adSeconds * 1000,
      expire: Math.floor(Date.now() / 1000) + video.lifeSeconds,
    };
    this.#tickets.set(ticket.name, ticket);
    return ticket;
  }

  /**
   * The ticket that a URL names.
   * @param solved the puzzles of a URL that has them
   * @returns undefined if it is unknown or expired, or a puzzle is not solved
   */
  find(name: string, solved?: { readonly n: string; readonly signature: string }): Ticket | undefined {
    const ticket = this.#tickets.get(name);
    if (ticket === undefined || Date.now() / 1000 >= ticket.expire) return undefined;
    const isSolved =
      solved === undefined ||
      (solved.n === solveThrottling(ticket.throttling) &&
        solved.signature === solveSignature(ticket.signature));
    return isSolved ? ticket : undefined;
  }
}
