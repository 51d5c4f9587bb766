import { parentPort, workerData } from 'node:worker_threads';
import { cutOut, defaultSteps } from '../matte/cut-out.js';
import { TeamMember } from '../matte/team-member.js';
import { sharedMemorySchema, toThreadSchema, type fromThreadSchema } from './task.js';
import type { z } from 'zod';

/** Entry point of the second thread of a {@link ThreadTeam}. */
const shared = sharedMemorySchema.parse(workerData);

function send(message: z.output<typeof fromThreadSchema>): void {
  parentPort?.postMessage(message);
}

parentPort?.on('message', (raw) => {
  const { image, mask, tuning } = toThreadSchema.parse(raw);
  const member = new TeamMember(shared, 1);
  const data = member.bytes(image.width * image.height * 4);
  const values = member.floats(mask.width * mask.height);
  // Not spread: V8 drops the shape of a spread copy at each garbage collection, and with it the compiled code.
  const copy = { width: image.width, height: image.height, data };
  cutOut(copy, { width: mask.width, height: mask.height, data: values }, tuning, defaultSteps, member);
  send('left');
});

send('ready');
