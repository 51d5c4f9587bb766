import { parentPort, workerData } from 'node:worker_threads';
import { TeamMember } from '../matte/team-member.js';
import { SharedImage } from './shared-image.js';
import { sharedMemorySchema, toThreadSchema, type fromThreadSchema, type ToThread } from './task.js';
import type { z } from 'zod';

/** Entry point of the second thread of a {@link ThreadTeam}. */
const shared = sharedMemorySchema.parse(workerData);
let current: SharedImage | undefined;

function take(message: ToThread): void {
  if (message.step === 'image') {
    const member = new TeamMember(shared, 1);
    const { width, height } = message.size;
    const data = member.bytes(width * height * 4);
    current = new SharedImage(member, { width, height, data }, message.hasAlpha);
    // The other thread asks for this first.
    void current.isOpaque;
  } else if (message.step === 'view') {
    current?.view(message.area, message.size, () => undefined);
  } else if (current !== undefined) {
    const { width, height } = message.mask;
    const data = current.member.floats(width * height);
    current.cutOut({ width, height, data }, message.tuning);
  }
}

function send(message: z.output<typeof fromThreadSchema>): void {
  parentPort?.postMessage(message);
}

parentPort?.on('message', (raw) => {
  take(toThreadSchema.parse(raw));
  send('done');
});

send('ready');
