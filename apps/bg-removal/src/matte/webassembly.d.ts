/** The part of WebAssembly's interface that the matte uses; TypeScript has it only with the browser's. */
declare namespace WebAssembly {
  class Memory {
    constructor(limits: { initial: number; maximum: number; shared: true });
    readonly buffer: SharedArrayBuffer;
    /** @param pages of 64 KiB */
    grow(pages: number): number;
  }
  const Module: new (bytes: Uint8Array) => object;
  class Instance {
    constructor(module: object, imports: Record<string, Record<string, unknown>>);
    readonly exports: Record<string, unknown>;
  }
}
