import sharp from 'sharp';
import type { Scene, SceneSize, SceneSpec, SubjectScene } from './scenes.js';

/** The groups of this file's scenes. */
export const uploadGroups: readonly string[] = ['finished', 'tight'];

/** Whether a generated scene's subject is uploaded alone too. */
export function hasUploads({ group, background }: SceneSpec, size: SceneSize): boolean {
  if (size === 'small') return group === 'hair' || group === 'holes';
  // On white, glass is no longer the subject's.
  return size === 'medium' && background === 'wall' && group !== 'translucent';
}

/** A subject that is already cut out, such as a sticker or the service's own result. */
export function finishedUpload(scene: SubjectScene): Scene {
  const { alpha, foreground } = scene;
  const composite = foreground.map((value, i) => (alpha[Math.floor(i / 3)] === 0 ? 0 : value));
  return { ...scene, name: `${scene.name}, finished`, group: 'finished', composite, own: alpha };
}

/** Half-opaque pixels bound the crop. */
const halfOpaque = 128;

/** A subject cropped to its edges on white, as shops ask for it, saved as JPEG. */
export async function tightUpload(scene: SubjectScene): Promise<Scene> {
  const { width, height, alpha, foreground } = scene;
  const columns = Array.from({ length: width }, (_, x) => x);
  const rows = Array.from({ length: height }, (_, y) => y);
  const isVisible = (x: number, y: number) => (alpha[y * width + x] ?? 0) >= halfOpaque;
  const hasColumn = (x: number) => rows.some((y) => isVisible(x, y));
  const hasRow = (y: number) => columns.some((x) => isVisible(x, y));
  const left = columns.findIndex(hasColumn);
  const top = rows.findIndex(hasRow);
  const area = {
    left,
    top,
    width: columns.findLastIndex(hasColumn) - left + 1,
    height: rows.findLastIndex(hasRow) - top + 1,
  };
  const crop = (data: Uint8Array, channels: 1 | 3) =>
    sharp(data, { raw: { width, height, channels } }).extract(area);
  const own = await crop(alpha, 1).toColourspace('b-w').raw().toBuffer();
  const colours = await crop(foreground, 3).raw().toBuffer();
  const onWhite = colours.map(
    (value, i) => 255 + ((value - 255) * (own[Math.floor(i / 3)] ?? 0)) / 255 + 0.5,
  );
  const size = { width: area.width, height: area.height };
  const jpeg = await sharp(onWhite, { raw: { ...size, channels: 3 } })
    .jpeg({ quality: 92, chromaSubsampling: '4:4:4' })
    .toBuffer();
  return {
    ...size,
    name: `${scene.name}, tight`,
    group: 'tight',
    alpha: Uint8Array.from(own),
    foreground: Uint8Array.from(colours),
    composite: Uint8Array.from(await sharp(jpeg).raw().toBuffer()),
  };
}
