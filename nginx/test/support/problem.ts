import { documentedErrors } from '../../src/errors/documented-errors.js';

const titles = new Map(documentedErrors().map((error) => [error.code, error.title]));

export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly retryable: boolean;
  readonly requestId: string;
}

/** Checks that a response is a complete problem+json and returns it. */
export async function expectProblem(response: Response, status: number, code: string): Promise<ProblemBody> {
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(response.headers.get('cache-control')).toBe('no-store');
  const problem = (await response.json()) as ProblemBody;
  expect(problem).toMatchObject({
    status,
    code,
    type: expect.stringContaining(`/docs/errors#${code.replaceAll('_', '-')}`) as string,
    title: titles.get(code),
    detail: expect.stringMatching(/\w{3}/) as string,
    requestId: response.headers.get('x-request-id'),
  });
  if ([429, 502, 503].includes(status)) {
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  return problem;
}
