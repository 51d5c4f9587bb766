/** The model cannot be used. The message is for the operator: what, where, and the way out. */
export class ModelError extends Error {
  override readonly name: string = 'ModelError';
}

/** There is no model in its folder; it may still be installed. */
export class ModelMissingError extends ModelError {
  override readonly name = 'ModelMissingError';
}
