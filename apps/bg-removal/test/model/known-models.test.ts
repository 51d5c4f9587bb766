import parseSpdx from 'spdx-expression-parse';
import { knownModels } from '../../dist/model/known-models.js';
import { manifestSchema } from '../../dist/model/manifest.js';

test.each(knownModels.map((model) => [model.id, model] as const))(
  '%s says its licence, and its weights are pinned by checksum and version',
  (_, { licence, source, graph, pinned }) => {
    if (licence !== 'unstated') expect(() => parseSpdx(licence)).not.toThrow();
    expect(source).toMatchObject({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
    if (source.kind === 'hub') {
      expect(source.revision).toMatch(/^[0-9a-f]{40}$/);
      expect(pinned[graph]).toBe(source.sha256);
    } else {
      expect(source.integrity).toMatch(/^sha512-/);
    }
  },
);

test.each(['', 'free to use', 'Apache 2', 'check before commercial use (see NOTICE)'])(
  'a manifest whose licence is "%s" is refused',
  (licence) => {
    expect(manifestSchema.shape.licence.safeParse(licence).success).toBe(false);
  },
);

test.each(['unstated', 'MIT', 'Apache-2.0 OR MIT', 'LicenseRef-own'])('"%s" is a licence', (licence) => {
  expect(manifestSchema.shape.licence.safeParse(licence).success).toBe(true);
});
