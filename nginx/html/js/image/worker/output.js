/** Alpha below this is invisible and ignored when cropping. */
const visibleAlpha = 8;

/** Converts to an opaque grey image of the mask, in place. */
export function toMask({ data }) {
  for (let at = 0; at < data.length; at += 4) {
    data[at] = data[at + 1] = data[at + 2] = data[at + 3];
    data[at + 3] = 255;
  }
}

/** Adds a soft shadow below the subject; returns a new image. */
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

/** Crops to the subject with a margin; returns a new image. Keeps everything if nothing is visible. */
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

/** Encodes an image as WebP or JPEG with the browser's encoder. */
export async function encodeByCanvas({ data, width, height }, type) {
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext('2d').putImageData(new ImageData(data, width, height), 0, 0);
  return canvas.convertToBlob({ type, quality: 0.92 });
}

/** Composites an image with straight alpha over a colour, `#rrggbb`, in place. */
export function putOnColour({ data }, colour) {
  const behind = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  for (let at = 0; at < data.length; at += 4) blend(data, at, ...behind);
}

/** Composites an image with straight alpha over an opaque RGBA image of the same size, in place. */
export function putOnPixels({ data }, behind) {
  for (let at = 0; at < data.length; at += 4) blend(data, at, behind[at], behind[at + 1], behind[at + 2]);
}

function blend(data, at, red, green, blue) {
  const alpha = data[at + 3] / 255;
  data[at] = red + (data[at] - red) * alpha;
  data[at + 1] = green + (data[at + 1] - green) * alpha;
  data[at + 2] = blue + (data[at + 2] - blue) * alpha;
  data[at + 3] = 255;
}
