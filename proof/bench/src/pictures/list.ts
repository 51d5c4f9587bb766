import { readFileSync } from 'node:fs';
import { z } from 'zod';

const registries = ['pypi', 'npm', 'debian'] as const;
export type Registry = (typeof registries)[number];

const filesByPackage = z.record(z.string(), z.array(z.string()));

/** The contents of `pictures.json`: packages with their licences, and the files of each set. */
export const pictureList = z
  .object({
    packages: z.record(
      z.string(),
      z.object({ registry: z.enum(registries), version: z.string(), licence: z.string() }),
    ),
    sets: z.object({
      /** For measuring the activations of the eight-bit network. */
      calibration: filesByPackage,
      /** For viewing. */
      photographs: filesByPackage,
      /** Photographed subjects with their alpha, cut out by hand by their authors. */
      'cut-outs': filesByPackage,
      backgrounds: filesByPackage,
    }),
    /** The cut-outs used for scoring, which have the most soft edges. */
    scoredCutOuts: z.array(z.string()),
  })
  .parse(JSON.parse(readFileSync(new URL('../../data/pictures.json', import.meta.url), 'utf8')));

export const { scoredCutOuts } = pictureList;
