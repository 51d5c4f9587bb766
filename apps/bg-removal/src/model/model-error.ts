/** The model cannot be used. The message is for the operator: what, where, and the way out. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
}
