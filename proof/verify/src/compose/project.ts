import { fileURLToPath } from 'node:url';
import { containersWith, docker, inspect } from '../docker.js';
import type { Box } from '../place/box.js';
import { gatewayLines, type GatewayLine } from '../place/gateway-log.js';
import { run } from '../run.js';
import type { BuildSetting } from './build.js';

/** Name of the verified Compose project. */
export const project = 'media-services-verify';
/** The web site with the video. */
export const source = 'source:8000';

const overridesFolder = fileURLToPath(new URL('../../compose/', import.meta.url));

/** Services of docker-compose.yml, and those that compose.verify.yml adds. */
export type Service = 'gateway' | 'video-dl' | 'bg-removal' | 'redis' | 'client' | 'source';

/** Runs `docker compose` on the project; returns its standard output. */
export type Compose = (...args: readonly string[]) => Promise<string>;

/** An image as docker-compose.yml names it. */
export function imageName(name: string): string {
  const { IMAGE_PREFIX = 'localhost/media-services', IMAGE_TAG = 'latest' } = process.env;
  return `${IMAGE_PREFIX}/${name}:${IMAGE_TAG}`;
}

/** Files beside compose.verify.yml, and variables that docker-compose.yml and they read. */
export type ComposeSetting = Pick<BuildSetting, 'overrides' | 'env'>;

export function composeFor({ overrides, env }: ComposeSetting, name = project): Compose {
  const ofTheProof = name === project ? ['compose.verify.yml'] : [];
  const files = [
    'docker-compose.yml',
    ...[...ofTheProof, ...overrides].map((file) => overridesFolder + file),
  ];
  return (...args) =>
    run('docker', ['compose', '-p', name, ...files.flatMap((file) => ['-f', file]), ...args], { env });
}

/** A service's running containers, in order. */
export function containersOf(service: Service): Promise<Box[]> {
  return containersWith({
    'com.docker.compose.project': project,
    'com.docker.compose.service': service,
    // Images have the two labels above too, and so do other containers started from them.
    'com.docker.compose.oneoff': 'False',
  });
}

/**
 * One of a service's running containers.
 * @param number from 0
 */
export async function containerOf(service: Service, number = 0): Promise<Box> {
  const box = (await containersOf(service))[number];
  if (box === undefined) throw new Error(`container ${number} of ${service} does not run`);
  return box;
}

/** The gateway's log lines of requests whose id begins with `id`. */
export async function gatewayLog(id: string): Promise<GatewayLine[]> {
  return gatewayLines(await docker('logs', (await containerOf('gateway')).name), id);
}

/** IP:port of a service's container in the network that it shares with the gateway. */
export async function upstreamOf(box: Box, network: string, port: number): Promise<string> {
  const { NetworkSettings } = await inspect(box);
  return `${NetworkSettings.Networks[`${project}_${network}`]?.IPAddress ?? ''}:${port}`;
}
