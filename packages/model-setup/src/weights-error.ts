/** Weights cannot be had, or are not what they should be. The message is for the operator. */
export class WeightsError extends Error {
  override readonly name = 'WeightsError';
}
