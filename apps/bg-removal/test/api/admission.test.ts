import { EventEmitter } from 'node:events';
import type { Request, Response } from 'express';
import fc from 'fast-check';
import { admission } from '../../dist/api/admission.js';

/** Requests of named clients, and what becomes of each. */
function house(places: number) {
  const handler = admission({ places, clientKey: (req) => req.ip ?? '' });
  return (client: string): { code: string; leave: () => void } => {
    const res = new EventEmitter();
    let code = 'let in';
    try {
      void handler(
        { ip: client } as Partial<Request> as Request,
        res as unknown as Response,
        () => undefined,
      );
    } catch (error) {
      code = (error as { code: string }).code;
    }
    return { code, leave: () => void res.emit('close') };
  };
}

test('one client alone gets about half of the places, and more when it has left some', () => {
  const ask = house(9);
  const codes = Array.from({ length: 6 }, () => ask('greedy'));
  expect(codes.map(({ code }) => code)).toEqual([...Array<string>(5).fill('let in'), 'rate_limited']);
  codes[0]?.leave();
  expect(ask('greedy').code).toBe('let in');
});

test('a single place is given, and then the service is busy for everybody', () => {
  const ask = house(1);
  const { leave } = ask('a');
  expect(ask('a').code).toBe('overloaded');
  expect(ask('b').code).toBe('overloaded');
  leave();
  expect(ask('b').code).toBe('let in');
});

test('however greedy up to three clients are, another finds a place of nine', () => {
  const greedy = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 200 });
  fc.assert(
    fc.property(greedy, (sequence) => {
      const ask = house(9);
      for (const client of sequence) ask(client);
      expect(ask('newcomer').code).toBe('let in');
    }),
  );
});
