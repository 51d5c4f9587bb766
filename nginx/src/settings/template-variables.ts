import { setting } from '@media-services/http-common/config/settings';
import type { GatewaySettings } from './gateway-settings.js';

type Environment = Readonly<Record<string, string | undefined>>;

const multipartRoomBytes = 1024 ** 2;
const loopback = /^(127\.[0-9.]+|::1|localhost)$/;

/** The variables of ../../templates, from the settings and from what the machine allows. */
export function templateVariables(
  settings: GatewaySettings,
  env: Environment,
  read: (file: string) => string | undefined,
): Record<string, string> {
  const files = openFiles(read('/proc/self/limits') ?? '');
  const { SERVICES: services, CORS_ALLOWED_ORIGINS: origins, VIDEO_REQUESTS_PER_MINUTE: videos } = settings;
  const isOpen = origins.includes('*');
  const secondsOf = (name: string) => {
    const parsed = setting.seconds(0).safeParse(env[name]);
    return parsed.success ? parsed.data : 0;
  };
  const grace = env.SHUTDOWN_GRACE_SECONDS?.trim() ? secondsOf('SHUTDOWN_GRACE_SECONDS') : 25;
  return {
    GATEWAY_WORKERS: String(workers(read)),
    // Longer than the services' timeouts, so that they can send their own problems. The services have
    // the same environment under compose and `npm start`.
    GATEWAY_READ_TIMEOUT: `${Math.max(
      300,
      60 + secondsOf('IMAGE_TIMEOUT_SECONDS'),
      60 + secondsOf('EXTRACTION_TIMEOUT_SECONDS') + secondsOf('FIRST_BYTE_TIMEOUT_SECONDS'),
    ).toFixed()}s`,
    // Like the services, the gateway lets running streams end. For nginx, 0 means no limit.
    GATEWAY_SHUTDOWN_TIMEOUT: `${Math.max(1, grace * 1000).toFixed()}ms`,
    GATEWAY_OPEN_FILES: String(files),
    GATEWAY_CONNECTIONS: String(files / 2),
    GATEWAY_MAX_BODY_SIZE: (settings.IMAGE_MAX_BYTES + multipartRoomBytes).toFixed(),
    // nginx has no rate of 0, but does not count requests with an empty key.
    GATEWAY_VIDEO_LIMIT: String(videos),
    GATEWAY_VIDEO_REQUESTS_KEY: videos === 0 ? '$nobody' : '$client_key',
    GATEWAY_VIDEO_BURST: String(Math.max(1, Math.floor(videos / 3))),
    VIDEO_REQUESTS_PER_MINUTE: String(videos || 1),
    STREAMS_PER_CLIENT: String(settings.STREAMS_PER_CLIENT),
    // A client that waits for one lookup before it starts the next may have its next one counted
    // before its last is counted out, since nginx has several processes.
    GATEWAY_LOOKUPS_PER_CLIENT: String(settings.STREAMS_PER_CLIENT * 2),
    GATEWAY_REQUESTS_PER_CLIENT: String(settings.STREAMS_PER_CLIENT * 16),
    IMAGES_PER_CLIENT: String(settings.IMAGES_PER_CLIENT),
    // The service enforces the exact limit; the gateway keeps floods of rejected requests away from it.
    GATEWAY_IMAGE_REQUESTS_KEY: settings.IMAGES_PER_MINUTE === 0 ? '$nobody' : '$client_key',
    GATEWAY_IMAGE_REQUESTS_RATE: String(Math.max(60, settings.IMAGES_PER_MINUTE * 4)),
    SERVICES: services.join(','),
    GATEWAY_ROUTES: services.map((name) => `include ${name}.conf; `).join(''),
    // No resolver is asked about a service that isn't there.
    ...(services.includes('video-dl') ? {} : { VIDEO_DL_UPSTREAM: '127.0.0.1:1' }),
    ...(services.includes('bg-removal') ? {} : { BG_REMOVAL_UPSTREAM: '127.0.0.1:1' }),
    GATEWAY_REAL_IP: realIp(settings.TRUSTED_PROXIES),
    GATEWAY_CORS_ORIGINS: isOpen
      ? 'default "*";'
      : `default ""; ${origins.map((origin) => `"${origin}" "${origin}"; `).join('')}`,
    GATEWAY_RESOURCE_POLICY: isOpen ? 'cross-origin' : 'same-origin',
    GATEWAY_CORS_VARY: isOpen || origins.length === 0 ? '' : 'Origin',
    GATEWAY_HOSTS: hosts(settings),
    GATEWAY_SECRET: settings.GATEWAY_SECRET,
    BASE_PATH: settings.BASE_PATH,
  };
}

/**
 * One per available core, at least two, so that a busy worker blocks nobody, and at most 16, which
 * is enough for any network.
 */
function workers(read: (file: string) => string | undefined): number {
  const cores = read('/proc/cpuinfo')?.match(/^processor/gm)?.length ?? 0;
  const [quota, period] = read('/sys/fs/cgroup/cpu.max')?.split(' ') ?? [];
  const share = Math.ceil(Number(quota) / Number(period));
  return Math.min(16, Math.max(2, share > 0 ? Math.min(cores, share) : cores));
}

/** At most as many as the process may open. */
function openFiles(limits: string): number {
  const own = Number(/^Max open files +\S+ +(\d+)/m.exec(limits)?.[1] ?? 0);
  const files = own > 0 ? Math.min(own, 32_768) : 32_768;
  return files - (files % 2);
}

function realIp(networks: readonly string[]): string {
  if (networks.length === 0) return '';
  const trusted = networks.map((network) => `set_real_ip_from ${network}; `).join('');
  return `${trusted}real_ip_header X-Forwarded-For; real_ip_recursive on;`;
}

/** The entries of a map from `Host` to 1 if it is unknown. */
function hosts({ ALLOWED_HOSTS: names, HOST: host }: GatewaySettings): string {
  if (names.length === 0 && !loopback.test(host)) return 'default "";';
  const entries = names.map((name) => ` "~*^${name.replaceAll('.', '\\.')}(:[0-9]+)?$" "";`).join('');
  return String.raw`default 1; "" ""; "~*^(localhost|[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+|\[[0-9a-f:.]+\])(:[0-9]+)?$" "";${entries}`;
}
