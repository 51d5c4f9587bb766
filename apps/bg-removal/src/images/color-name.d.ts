declare module 'color-name' {
  /** The named colours of CSS, as sRGB. */
  const names: Readonly<Record<string, readonly [number, number, number]>>;
  export default names;
}
