import { problemOf, setting } from '@media-services/http-common';
import { parseAllowedSource } from './allow-list.js';
import { parseNetwork } from './own-addresses.js';
import { parseOutboundProxies } from './outbound-proxy.js';

/** Settings for outgoing connections, shared by all services that use the guard. */
export function egressSettings() {
  return {
    ALLOWED_PRIVATE_SOURCES: setting
      .list()
      .superRefine((sources, context) => {
        for (const source of sources) {
          const message = problemOf(() => parseAllowedSource(source));
          if (message !== undefined)
            context.addIssue({ code: 'custom', message: `has an invalid entry: ${message}` });
        }
      })
      .describe('Non-public hosts that may be read: CIDRs or host:port, comma-separated.'),
    BLOCKED_SOURCES: setting
      .list()
      .superRefine((sources, context) => {
        for (const source of sources) {
          const message = problemOf(() => parseNetwork(source));
          if (message !== undefined)
            context.addIssue({ code: 'custom', message: `has an invalid entry: ${message}` });
        }
      })
      .describe(
        "Public addresses that must not be read, comma-separated IP addresses or CIDRs: the host's own under compose, and those of a load balancer. The addresses of the service's own network interfaces are always blocked.",
      ),
    OUTBOUND_PROXY: setting
      .text()
      .superRefine((list, context) => {
        const message = problemOf(() => parseOutboundProxies(list));
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      })
      .describe(
        'Proxies for all outgoing connections, comma-separated: http://, https:// or socks5h://[user:password@]host:port. Each job uses one of them.',
      ),
  };
}
