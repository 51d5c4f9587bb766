/** Draws a red vase on a table as a JPEG, on standard output; runs in bg-removal's image, which has sharp. */
import { createRequire } from 'node:module';

type Sharp = (input: Buffer) => { jpeg(options: { quality: number }): { toBuffer(): Promise<Buffer> } };

const sharp = createRequire('/app/package.json')('sharp') as Sharp;
const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="800" height="600">
  <defs><linearGradient id="glaze"><stop offset="0" stop-color="#e2583a"/><stop offset="1" stop-color="#5d160d"/></linearGradient>
  <linearGradient id="wall" x2="0" y2="1"><stop offset="0" stop-color="#a9bcc4"/><stop offset="1" stop-color="#d7dfdf"/></linearGradient></defs>
  <rect width="800" height="600" fill="url(#wall)"/><rect y="450" width="800" height="150" fill="#8d7355"/>
  <path d="M330 120 H470 C465 150 460 170 468 190 C540 235 555 350 505 430 C480 470 470 490 472 515 H328 C330 490 320 470 295 430 C245 350 260 235 332 190 C340 170 335 150 330 120 Z" fill="url(#glaze)"/>
</svg>`;
process.stdout.write(await sharp(Buffer.from(drawing)).jpeg({ quality: 92 }).toBuffer());
