/** npm run proof -- kubernetes: proves deploy/kubernetes, on the cluster that kubectl reaches. */
import { parseArgs } from 'node:util';
import { checkChanges } from './kubernetes/changes.js';
import { deploy, gatewayLog, kubectl, podOf, podsOf, product, remove, source } from './kubernetes/cluster.js';
import { checkManifests } from './kubernetes/manifests.js';
import { checkPolicies } from './kubernetes/policies.js';
import { checkRedis } from './kubernetes/redis.js';
import { distributePicture } from './place/box.js';
import { checkExactLimit } from './place/exact-limit.js';
import { checkMainJob } from './place/main-job.js';
import { Report } from './report.js';
import { run } from './run.js';

const { values } = parseArgs({
  options: {
    manifests: { type: 'boolean' },
    cluster: { type: 'boolean' },
    keep: { type: 'boolean' },
  },
});
await main();

async function main(): Promise<void> {
  const report = new Report();
  if (!values.cluster) await checkManifests(report);
  if (!values.manifests) {
    try {
      await report.check('everything is ready under the pod security level `restricted`', deployed);
      if (report.failed === 0) await proofs(report);
    } finally {
      if (!values.keep) await report.check('deleting the namespaces leaves nothing', remove);
    }
  }
  report.end();
}

async function deployed(): Promise<string> {
  await remove();
  await deploy();
  await distributePicture(await podOf('bg-removal'), await podsOf('client'));
  const level = '{.metadata.labels.pod-security\\.kubernetes\\.io/enforce}';
  const enforced = await kubectl(product, ['get', 'namespace', product, '--output', `jsonpath=${level}`]);
  const version = await run('kubectl', ['version']);
  return `${enforced}; ${version.trim().split('\n').at(-1)}`;
}

async function proofs(report: Report): Promise<void> {
  await checkMainJob(report, {
    client: await podOf('client'),
    source,
    forbidden: ['http://gateway.media-services.svc.cluster.local/', 'http://169.254.169.254/latest/'],
  });
  await checkPolicies(report);
  await report.check('5 images a minute and client hold over two pods, exactly', async () =>
    checkExactLimit(await podOf('client', 4), gatewayLog),
  );
  await checkRedis(report);
  await checkChanges(report);
}
