import { z } from 'zod';
import { NotYet, until } from '../wait.js';
import { request, type Box, type ParsedAnswer } from './box.js';

const statusSchema = z.object({
  status: z.string(),
  services: z.record(z.string(), z.object({ status: z.string() })).optional(),
});

/** The status in a health document; fails for other documents. */
export function overallStatus(json: unknown): z.infer<typeof statusSchema> {
  return statusSchema.parse(json);
}

/** Waits until a health path returns this HTTP status and text. */
export function healthUntil(
  client: Box,
  path: string,
  httpStatus: number,
  status: string,
): Promise<ParsedAnswer> {
  return until(`${path} says ${status}`, 180, async () => {
    const answer = await request(client, { path, id: 'health' });
    const said = statusSchema.safeParse(answer.json).data?.status;
    if (answer.status === httpStatus && said === status) return answer;
    return new NotYet(JSON.stringify(answer));
  });
}
