/** Lays an image with straight alpha onto a colour, `#rrggbb`, in place. */
export function putOnColour({ data }, colour) {
  const behind = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  for (let at = 0; at < data.length; at += 4) blend(data, at, ...behind);
}

/** Lays an image with straight alpha onto another of the same size, RGBA without transparency, in place. */
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
