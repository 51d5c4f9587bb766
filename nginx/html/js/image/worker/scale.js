/** Every square of `step` pixels becomes one, its mean (colours weighted by alpha). RGBA with straight alpha. */
export function scaleDown(image, step) {
  if (step === 1) return image;
  const width = Math.max(1, Math.floor(image.width / step));
  const height = Math.max(1, Math.floor(image.height / step));
  const data = new Uint8ClampedArray(width * height * 4);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      let red = 0;
      let green = 0;
      let blue = 0;
      let alpha = 0;
      for (let row = y * step; row < (y + 1) * step && row < image.height; row++) {
        const from = (row * image.width + x * step) * 4;
        for (let at = from; at < from + step * 4; at += 4) {
          const weight = image.data[at + 3];
          red += image.data[at] * weight;
          green += image.data[at + 1] * weight;
          blue += image.data[at + 2] * weight;
          alpha += weight;
        }
      }
      if (alpha === 0) continue;
      const at = (y * width + x) * 4;
      data[at] = red / alpha;
      data[at + 1] = green / alpha;
      data[at + 2] = blue / alpha;
      // Up, so that what is faintly visible stays visible.
      data[at + 3] = Math.ceil(alpha / (step * step));
    }
  }
  return { data, width, height };
}
