import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { ModelError } from '../../dist/model/model-error.js';
import { setUpModel } from '../../dist/model/set-up-model.js';

it('where the folder for models cannot be written to, set-up says so before it fetches anything', async () => {
  const place = await mkdtemp(path.join(os.tmpdir(), 'models-'));
  const modelsDir = path.join(place, 'models');
  await writeFile(modelsDir, 'a file where the folder should be');
  const installing = setUpModel({ model: 'isnet-general-use', modelsDir, log: () => undefined });
  await expect(installing).rejects.toThrow(ModelError);
  await expect(installing).rejects.toThrow(
    /cannot be installed \(.*ENOTDIR.*\)\. The folder.* has to be writable for user/,
  );
  await rm(place, { recursive: true });
});
