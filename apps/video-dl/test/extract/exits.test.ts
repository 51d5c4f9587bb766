import { DomainError, type ErrorCode } from '@media-services/http-common';
import { Exits } from '../../src/extract/exits.js';

const turnedAway = (code: ErrorCode) => (): Promise<never> => Promise.reject(new DomainError(code, 'no'));

/** Requests a host whose site blocks the given exits. */
function asked(exits: Exits, host: string, rejected: readonly number[], code: ErrorCode = 'bot_check') {
  return exits.through(undefined, host, async (exit) =>
    rejected.includes(exit) ? turnedAway(code)() : Promise.resolve(exit),
  );
}

describe('Exits', () => {
  it('switches only for the site that blocked the proxy', async () => {
    const exits = new Exits(3);
    expect(await asked(exits, 'picky.example', [0])).toEqual({ result: 1, exit: 1 });
    expect(await asked(exits, 'picky.example', [])).toEqual({ result: 1, exit: 1 });
    expect(await asked(exits, 'other.example', [])).toEqual({ result: 0, exit: 0 });
  });

  it('tries each proxy once', async () => {
    const exits = new Exits(2);
    const tried: number[] = [];
    const ask = async (exit: number) => {
      tried.push(exit);
      return turnedAway('upstream_rate_limited')();
    };
    await expect(exits.through(undefined, 'picky.example', ask)).rejects.toMatchObject({
      code: 'upstream_rate_limited',
    });
    expect(tried).toEqual([0, 1]);
  });

  it.each<ErrorCode>(['forbidden_address', 'private_video', 'upstream_error'])(
    'stays where it is after %s',
    async (code) => {
      const exits = new Exits(2);
      await expect(asked(exits, 'host.example', [0, 1], code)).rejects.toMatchObject({ code });
      expect(await asked(exits, 'host.example', [])).toEqual({ result: 0, exit: 0 });
    },
  );

  it('never switches from the proxy that a renewal is bound to', async () => {
    const exits = new Exits(2);
    await expect(exits.through(1, 'host.example', turnedAway('bot_check'))).rejects.toMatchObject({
      code: 'bot_check',
    });
    expect(await asked(exits, 'host.example', [])).toEqual({ result: 0, exit: 0 });
  });
});
