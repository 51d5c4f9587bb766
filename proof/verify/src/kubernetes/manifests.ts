/** deploy/kubernetes against the published API schemas: no cluster needed, but go and pip. */
import assert from 'node:assert/strict';
import { copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { root, toolsDir } from '@media-services/stack/set-up';
import type { Report } from '../report.js';
import { run } from '../run.js';
import { goTool } from '../tools.js';

const versions = ['1.33.0', '1.35.0', '1.37.0'];
const everything = 'proof/verify/kubernetes/everything';
const folders = [
  'deploy/kubernetes/base',
  'deploy/kubernetes/overlays/gateway-api',
  'proof/verify/kubernetes',
  everything,
];
/** Go modules whose custom resources are used, and where their definitions are. */
const customResources = [
  {
    module: 'sigs.k8s.io/gateway-api@v1.3.0',
    files: ['config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'],
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    files: ['servicemonitors', 'prometheusrules'].map(
      (name) => `example/prometheus-operator-crd/monitoring.coreos.com_${name}.yaml`,
    ),
  },
];
// A PyPI package that carries the schemas of every version.
const schemasPackage = 'kubernetes-validate==1.37.0';

const ours = ['gateway', 'video-dl', 'bg-removal'];

const expressionSchema = z.object({ values: z.array(z.string()) });
const policySchema = z.object({
  kind: z.literal('NetworkPolicy'),
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    podSelector: z.object({
      matchLabels: z.record(z.string(), z.string()).optional(),
      matchExpressions: z.array(expressionSchema).optional(),
    }),
    egress: z.unknown(),
  }),
});

/** Renders each folder with kustomize and validates it strictly with kubeconform. */
export async function checkManifests(report: Report): Promise<void> {
  const kustomize = await goTool('sigs.k8s.io/kustomize/kustomize/v5', 'v5.7.1');
  const kubeconform = await goTool('github.com/yannh/kubeconform/cmd/kubeconform', 'v0.8.0');
  const work = join(toolsDir, 'kubernetes-schemas');
  await fetchSchemas(work);
  await fetchCustomSchemas(work);

  const validate = (version: string, manifest: string) =>
    run(kubeconform, [
      ...['-strict', '-summary', '-schema-location'],
      ...[join(work, version, '{{.ResourceKind}}{{.KindSuffix}}.json'), '-schema-location'],
      ...[join(work, 'custom', '{{.ResourceKind}}.json'), manifest],
    ]);
  const render = (folder: string) =>
    run(kustomize, ['build', '--load-restrictor', 'LoadRestrictionsNone', folder]);
  for (const folder of folders) {
    const manifest = await render(join(root, folder));
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
  await report.check('`kustomize edit set image` names the image of every container', async () => {
    const copy = join(work, 'edited');
    await rm(copy, { recursive: true, force: true });
    await cp(join(root, 'deploy/kubernetes'), copy, { recursive: true });
    const cwd = join(copy, 'base');
    await run(kustomize, ['edit', 'add', 'component', '../components/model-volume'], { cwd });
    for (const name of ours) {
      const image = `localhost/media-services/${name}=registry.example.org/media/${name}:1.2.3`;
      await run(kustomize, ['edit', 'set', 'image', image], { cwd });
    }
    const manifest = await render(cwd);
    const images = [...manifest.matchAll(/\bimage: (\S+)$/gm)].map(([, image]) => image ?? '').sort();
    const edited = ['bg-removal', ...ours].map((name) => `registry.example.org/media/${name}:1.2.3`).sort();
    assert.deepEqual(images, [...edited, 'valkey/valkey:8-trixie']);
    return images.join(', ');
  });
  await report.check("node-local-dns covers every pod that uses the cluster's DNS", async () =>
    assertNodeLocalDns(await render(join(root, everything))),
  );
}

/** NodeLocal DNSCache replaces the cluster's DNS for every pod. */
function assertNodeLocalDns(manifest: string): string {
  const policies = parseAllDocuments(manifest).flatMap((document) => {
    const { data } = policySchema.safeParse(document.toJS());
    return data === undefined ? [] : [data];
  });
  const podsOf = ({ spec: { podSelector } }: z.infer<typeof policySchema>) => [
    ...Object.values(podSelector.matchLabels ?? {}),
    ...(podSelector.matchExpressions ?? []).flatMap(({ values }) => values),
  ];
  const asking = policies.filter(({ spec }) => JSON.stringify(spec.egress ?? '').includes('kube-dns'));
  const covered = policies.filter(({ metadata }) => metadata.name === 'node-local-dns').flatMap(podsOf);
  assert.deepEqual(covered.sort(), asking.flatMap(podsOf).sort());
  return covered.join(', ');
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

const definitionSchema = z.object({
  spec: z.object({
    names: z.object({ singular: z.string() }),
    versions: z.array(
      z.object({ storage: z.boolean(), schema: z.object({ openAPIV3Schema: z.looseObject({}) }) }),
    ),
  }),
});

/** The schemas in the definitions of custom resources, as files that kubeconform reads. */
async function fetchCustomSchemas(work: string): Promise<void> {
  await mkdir(join(work, 'custom'), { recursive: true });
  for (const { module, files } of customResources) {
    const out = await run('go', ['mod', 'download', '-json', module], { cwd: work });
    const { Dir: folder } = z.object({ Dir: z.string() }).parse(JSON.parse(out));
    for (const file of files) {
      const { spec } = definitionSchema.parse(parse(await readFile(join(folder, file), 'utf8')));
      const stored = spec.versions.find(({ storage }) => storage);
      assert.ok(stored !== undefined, `${file} stores no version`);
      await writeFile(
        join(work, 'custom', `${spec.names.singular}.json`),
        JSON.stringify(closed(stored.schema.openAPIV3Schema)),
      );
    }
  }
}

/** The same schema, in which an object has no other fields than those that are described. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  const isOpen = 'additionalProperties' in schema || 'x-kubernetes-preserve-unknown-fields' in schema;
  return 'properties' in schema && 'type' in schema && !isOpen
    ? { ...entries, additionalProperties: false }
    : entries;
}
