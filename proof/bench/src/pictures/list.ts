import { readFileSync } from 'node:fs';
import { z } from 'zod';

const registries = ['pypi', 'npm', 'debian'] as const;
export type Registry = (typeof registries)[number];

const filesByPackage = z.record(z.string(), z.array(z.string()));

/** What `pictures.json` names: packages with their licences, and the files of each set. */
export const pictureList = z
  .object({
    packages: z.record(
      z.string(),
      z.object({ registry: z.enum(registries), version: z.string(), licence: z.string() }),
    ),
    sets: z.object({
      /** What the activations of the eight-bit network are measured on. */
      calibration: filesByPackage,
      /** To look at. */
      photographs: filesByPackage,
      /** Photographed subjects with their alpha, cut out by the hands of those who gave them. */
      'cut-outs': filesByPackage,
      backgrounds: filesByPackage,
    }),
    /** Of the cut-outs: those that quality is measured on, which have the most of soft edges. */
    scoredCutOuts: z.array(z.string()),
  })
  .parse(JSON.parse(readFileSync(new URL('../../data/pictures.json', import.meta.url), 'utf8')));

export const { scoredCutOuts } = pictureList;
