/**
 * A filter in whole steps of `scale`, −127 to 127, so that rounding errors cancel out where
 * it matters: neighbouring pixels are alike, so what counts is the error of a channel's
 * weights together, and activations are positive, so that the errors of channels add up.
 * Each weight is rounded to the nearest step; then, in every channel and after that in the
 * filter as a whole, as many weights as bring the sum of errors within half a step go to
 * the step on the other side, those first that are nearest to it (Guo et al., "SQuant:
 * on-the-fly data-free quantization via diagonal Hessian approximation", ICLR 2022).
 * @param values channel by channel, `area` weights each
 */
export function roundFilter(values: Float32Array, scale: number, area: number): Int8Array {
  const exact = new Float64Array(values).map((value) => value / scale);
  const steps = new Int8Array(exact.map(Math.round));
  const channels = values.length / area;
  const errors = Float64Array.from({ length: channels }, (_, c) => {
    const [first, end] = [c * area, (c + 1) * area];
    let error = sumOfErrors(steps, exact, first, end);
    const by = -Math.sign(Math.round(error));
    for (let left = Math.abs(Math.round(error)); left > 0; left--)
      error += step(steps, exact, first, end, by);
    return error;
  });
  const surplus = Math.round(errors.reduce((total, error) => total + error, 0));
  const by = -Math.sign(surplus);
  const order = Array.from(errors.keys()).sort((a, b) => by * ((errors[a] ?? 0) - (errors[b] ?? 0)));
  for (const c of order.slice(0, Math.abs(surplus))) step(steps, exact, c * area, (c + 1) * area, by);
  return steps;
}

function sumOfErrors(steps: Int8Array, exact: Float64Array, first: number, end: number): number {
  let total = 0;
  for (let i = first; i < end; i++) total += (steps[i] ?? 0) - (exact[i] ?? 0);
  return total;
}

/**
 * Moves the weight from `first` to before `end` that is nearest to its next step in the
 * direction of `by`, +1 or −1.
 * @returns what it was moved by: 0 if none can go further
 */
function step(steps: Int8Array, exact: Float64Array, first: number, end: number, by: number): number {
  let nearest = -1;
  let least = Infinity;
  for (let i = first; i < end; i++) {
    const next = (steps[i] ?? 0) + by;
    const distance = by * (next - (exact[i] ?? 0));
    if (Math.abs(next) <= 127 && distance < least) [nearest, least] = [i, distance];
  }
  if (nearest < 0) return 0;
  steps[nearest] = (steps[nearest] ?? 0) + by;
  return by;
}
