/** A promise with its handles (`Promise.withResolvers`, which Node 20 does not have). */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (reason: unknown) => void;
}

export function deferred<T>(): Deferred<T> {
  let resolve: Deferred<T>['resolve'] | undefined;
  let reject: Deferred<T>['reject'] | undefined;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  if (resolve === undefined || reject === undefined) throw new Error('The promise executor did not run.');
  return { promise, resolve, reject };
}
