/** npm run verify:kubernetes: proves deploy/kubernetes against the API schemas of Kubernetes. */
import { checkManifests } from './kubernetes/manifests.js';
import { Report } from './report.js';

const report = new Report();
await checkManifests(report);
report.end();
