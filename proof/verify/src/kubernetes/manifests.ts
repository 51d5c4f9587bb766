/** deploy/kubernetes against the published API schemas: no cluster needed, but go and pip. */
import assert from 'node:assert/strict';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root, toolsDir } from '@media-services/stack/set-up';
import type { Report } from '../report.js';
import { run } from '../run.js';
import { goTool } from '../tools.js';

const versions = ['1.33.0', '1.35.0', '1.37.0'];
const folders = ['base', 'overlays/ingress'];
// A PyPI package that carries the schemas of every version.
const schemasPackage = 'kubernetes-validate==1.37.0';

/** Renders each folder with kustomize and validates it strictly with kubeconform. */
export async function checkManifests(report: Report): Promise<void> {
  const kustomize = await goTool('sigs.k8s.io/kustomize/kustomize/v5', 'v5.7.1');
  const kubeconform = await goTool('github.com/yannh/kubeconform/cmd/kubeconform', 'v0.8.0');
  const work = join(toolsDir, 'kubernetes-schemas');
  await fetchSchemas(work);

  const validate = (version: string, manifest: string) =>
    run(kubeconform, [
      ...['-strict', '-summary', '-schema-location'],
      ...[join(work, version, '{{.ResourceKind}}{{.KindSuffix}}.json'), manifest],
    ]);
  for (const folder of folders) {
    const manifest = await run(kustomize, ['build', join(root, 'deploy', 'kubernetes', folder)]);
    const file = join(work, 'rendered.yaml');
    for (const version of versions) {
      await report.check(`${folder} is valid for Kubernetes ${version}`, async () => {
        await writeFile(file, manifest);
        return (await validate(version, file)).trim();
      });
    }
    // A validator that finds nothing wrong in anything would say the same.
    await report.check(`a misspelt field in ${folder} is found`, async () => {
      await writeFile(file, manifest.replaceAll('readOnlyRootFilesystem', 'readOnlyRootFileSystem'));
      await assert.rejects(validate(versions[0] ?? '', file), /readOnlyRootFileSystem/);
    });
  }
}

async function fetchSchemas(work: string): Promise<void> {
  await mkdir(work, { recursive: true });
  const options = ['--quiet', '--no-deps', '--only-binary=:all:', '--dest', work];
  await run('python3', ['-m', 'pip', 'download', ...options, schemasPackage]);
  const wheel = (await readdir(work)).find((name) => name.endsWith('.whl'));
  if (wheel === undefined) throw new Error(`pip has not downloaded ${schemasPackage}`);
  await run('python3', ['-m', 'zipfile', '-e', join(work, wheel), join(work, 'package')]);
  for (const version of versions) {
    const published = join(
      work,
      'package/kubernetes_validate/kubernetes-json-schema',
      `v${version}-local-strict`,
    );
    const folder = join(work, version);
    await mkdir(folder, { recursive: true });
    for (const name of await readdir(published)) {
      await copyFile(join(published, name), join(folder, name));
      // Published for a web server's root; here they are files.
      const schema = await readFile(join(folder, name), 'utf8');
      const definitions = `"file://${join(folder, '_definitions.json')}`;
      await writeFile(join(folder, name), schema.replaceAll('"/api/_definitions.json', definitions));
    }
  }
}
