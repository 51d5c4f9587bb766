/**
 * Gives colours to pixels that a soft edge has made visible and that have none, as
 * the service erases the colours of what its matte hides. Ring by ring outwards,
 * each pixel takes the mean of its neighbours that have a colour already.
 * @param data RGBA of the untuned cut-out: alpha 0 means that there is no colour; changed in place
 * @param visible the alpha that the pixels will have
 */
export function spreadColours(data, visible, width, height) {
  const known = new Uint8Array(visible.length);
  for (let at = 0; at < known.length; at++) known[at] = data[at * 4 + 3] === 0 ? 0 : 1;
  let ring = [];
  for (let at = 0; at < known.length; at++) if (known[at] === 0 && visible[at] !== 0) ring.push(at);
  while (ring.length > 0) {
    const reached = [];
    const later = [];
    for (const at of ring) {
      if (takeMean(data, known, at, width, height)) reached.push(at);
      else later.push(at);
    }
    if (reached.length === 0) return;
    for (const at of reached) known[at] = 1;
    ring = later;
  }
}

/** @returns false where no neighbour has a colour yet */
function takeMean(data, known, at, width, height) {
  const x = at % width;
  const y = (at - x) / width;
  let red = 0;
  let green = 0;
  let blue = 0;
  let count = 0;
  for (let ny = Math.max(0, y - 1); ny <= Math.min(height - 1, y + 1); ny++) {
    for (let nx = Math.max(0, x - 1); nx <= Math.min(width - 1, x + 1); nx++) {
      const neighbour = ny * width + nx;
      if (known[neighbour] === 0) continue;
      red += data[neighbour * 4];
      green += data[neighbour * 4 + 1];
      blue += data[neighbour * 4 + 2];
      count++;
    }
  }
  if (count === 0) return false;
  data[at * 4] = red / count;
  data[at * 4 + 1] = green / count;
  data[at * 4 + 2] = blue / count;
  return true;
}
