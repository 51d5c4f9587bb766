import sharp from 'sharp';

const width = 1600;
const height = 1200;

/** The subject: a glazed vase with two handles, lit from the left. */
const vase = `
  <path d="M 675 345 C 560 335 520 430 560 520" fill="none" stroke="url(#glaze)" stroke-width="38" stroke-linecap="round"/>
  <path d="M 925 345 C 1040 335 1080 430 1040 520" fill="none" stroke="url(#glaze)" stroke-width="38" stroke-linecap="round"/>
  <path d="M 660 240 L 940 240 C 930 300 920 340 935 380 C 1080 470 1110 700 1010 860 C 960 940 940 980 945 1030 L 655 1030 C 660 980 640 940 590 860 C 490 700 520 470 665 380 C 680 340 670 300 660 240 Z" fill="url(#glaze)"/>
  <ellipse cx="800" cy="240" rx="140" ry="26" fill="#3d1710"/>`;

const details = `
  <path d="M 556 560 C 700 620 900 620 1044 560 L 1052 620 C 900 685 700 685 548 620 Z" fill="#f3e3c3" opacity="0.9"/>
  <path d="M 620 520 C 590 620 600 740 660 830" fill="none" stroke="#fff" stroke-width="34" stroke-linecap="round" opacity="0.35" filter="url(#soft)"/>`;

const definitions = `
  <defs>
    <linearGradient id="glaze" x1="0" x2="1"><stop offset="0" stop-color="#e2583a"/><stop offset="0.35" stop-color="#c23a22"/><stop offset="0.75" stop-color="#8e2415"/><stop offset="1" stop-color="#5d160d"/></linearGradient>
    <linearGradient id="wall" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#a9bcc4"/><stop offset="1" stop-color="#d7dfdf"/></linearGradient>
    <linearGradient id="table" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#8d7355"/><stop offset="1" stop-color="#b1946f"/></linearGradient>
    <filter id="soft"><feGaussianBlur stdDeviation="9"/></filter>
    <filter id="far"><feGaussianBlur stdDeviation="34"/></filter>
  </defs>`;

const svg = (content: string) =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${definitions}${content}</svg>`,
  );

const background = `
  <rect width="${width}" height="${height}" fill="url(#wall)"/>
  <g filter="url(#far)"><rect x="90" y="120" width="330" height="520" fill="#eef3f2"/><rect x="1180" y="60" width="300" height="420" fill="#7f958b"/><circle cx="1330" cy="640" r="120" fill="#5f7a58"/></g>
  <rect y="900" width="${width}" height="300" fill="url(#table)"/>
  <ellipse cx="850" cy="1035" rx="300" ry="34" fill="#3a2a1c" opacity="0.55" filter="url(#soft)"/>`;

export interface SamplePicture {
  readonly jpeg: Buffer;
  /** The subject's mask: one byte per pixel, 255 inside. */
  readonly mask: Buffer;
  readonly width: number;
  readonly height: number;
}

/**
 * Draws a picture of a vase on a table, with the grain of a camera, and the truth
 * about which of its pixels are the vase.
 */
export async function drawSamplePicture(): Promise<SamplePicture> {
  const grain = await sharp({
    create: {
      width,
      height,
      channels: 3,
      background: '#808080',
      noise: { type: 'gaussian', mean: 128, sigma: 9 },
    },
  })
    .png()
    .toBuffer();
  const jpeg = await sharp(svg(background + vase + details))
    .composite([{ input: grain, blend: 'soft-light' }])
    .jpeg({ quality: 92 })
    .toBuffer();
  const mask = await sharp(svg(vase)).ensureAlpha().extractChannel(3).raw().toBuffer();
  return { jpeg, mask, width, height };
}
