/** Alpha below this is invisible, and no reason to crop wider. */
const visibleAlpha = 8;

/** The mask as an opaque grey image, in place. */
export function toMask({ data }) {
  for (let at = 0; at < data.length; at += 4) {
    data[at] = data[at + 1] = data[at + 2] = data[at + 3];
    data[at + 3] = 255;
  }
}

/** The subject on a soft shadow below it, as a new image. */
export async function withShadow({ data, width, height }) {
  const bitmap = await createImageBitmap(new ImageData(data, width, height));
  const context = new OffscreenCanvas(width, height).getContext('2d');
  const side = Math.min(width, height);
  context.shadowColor = 'rgb(0 0 0 / 45%)';
  context.shadowBlur = side * 0.03;
  context.shadowOffsetY = side * 0.015;
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  return context.getImageData(0, 0, width, height);
}

/** The part with the subject in it and a margin around it, as a new image; all of it where nothing is visible. */
export function cropped(image, marginPixels) {
  const box = subjectBox(image);
  if (box === undefined) return image;
  const left = Math.max(0, box.left - marginPixels);
  const top = Math.max(0, box.top - marginPixels);
  const width = Math.min(image.width, box.right + 1 + marginPixels) - left;
  const height = Math.min(image.height, box.bottom + 1 + marginPixels) - top;
  const data = new Uint8ClampedArray(width * height * 4);
  for (let row = 0; row < height; row++) {
    const from = ((top + row) * image.width + left) * 4;
    data.set(image.data.subarray(from, from + width * 4), row * width * 4);
  }
  return { data, width, height };
}

function subjectBox({ data, width, height }) {
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let y = 0, at = 3; y < height; y++) {
    for (let x = 0; x < width; x++, at += 4) {
      if (data[at] < visibleAlpha) continue;
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = y;
    }
  }
  return right < 0 ? undefined : { left, top, right, bottom };
}

/** An image as WebP or JPEG, by the browser's own encoder. */
export async function encodeByCanvas({ data, width, height }, type) {
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext('2d').putImageData(new ImageData(data, width, height), 0, 0);
  return canvas.convertToBlob({ type, quality: 0.92 });
}
