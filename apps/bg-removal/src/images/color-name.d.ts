declare module 'color-name' {
  /** The named CSS colours as sRGB. */
  const names: Readonly<Record<string, readonly [number, number, number]>>;
  export default names;
}
