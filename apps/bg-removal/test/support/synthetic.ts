import type { RgbaImage } from '../../src/images/rgba-image.js';

/** A soft disc of known colours over a known background. */
export interface Composite {
  readonly image: RgbaImage;
  /** Exact matte, 0-255. */
  readonly alpha: Uint8Array;
  readonly foreground: (x: number, y: number) => readonly [number, number, number];
}

export function softDisc(width: number, height: number, softness: number): Composite {
  const foreground = (x: number, y: number) =>
    [200 + 20 * Math.sin(x / 30), 120 + 20 * Math.cos(y / 25), 60] as const;
  const background = (x: number, y: number) => [30, 60 + 30 * Math.sin((x + y) / 20), 200] as const;
  const alpha = new Uint8Array(width * height);
  const data = new Uint8Array(width * height * 4);
  const radius = Math.min(width, height) / 3;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const distance = Math.hypot(x + 0.5 - width / 2, y + 0.5 - height / 2) - radius;
      const a = Math.min(1, Math.max(0, 0.5 - distance / softness));
      const i = y * width + x;
      alpha[i] = Math.round(a * 255);
      const f = foreground(x, y);
      const b = background(x, y);
      for (let c = 0; c < 3; c++) data[i * 4 + c] = Math.round(a * (f[c] ?? 0) + (1 - a) * (b[c] ?? 0));
      data[i * 4 + 3] = 255;
    }
  }
  return { image: { width, height, data }, alpha, foreground };
}

/** Mean distance of the colours of translucent pixels from the true foreground, 0-255. */
export function colourError({ image, alpha, foreground }: Composite, data: Uint8Array = image.data): number {
  let sum = 0;
  let count = 0;
  for (let i = 0; i < alpha.length; i++) {
    const a = (alpha[i] ?? 0) / 255;
    if (a <= 0.02 || a >= 0.98) continue;
    const f = foreground(i % image.width, Math.floor(i / image.width));
    for (let c = 0; c < 3; c++) sum += (Math.abs((data[i * 4 + c] ?? 0) - (f[c] ?? 0)) * a) / 3;
    count++;
  }
  return sum / count;
}
