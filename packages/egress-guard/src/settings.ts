import { setting } from '@media-services/http-common';
import { parseAllowedSource } from './allow-list.js';
import { parseOutboundProxies } from './outbound-proxy.js';

/** What operators can set about outgoing connections; the same for each service that has a guard. */
export function egressSettings() {
  return {
    ALLOWED_PRIVATE_SOURCES: setting
      .list()
      .superRefine((sources, context) => {
        for (const source of sources) {
          const message = problemOf(() => parseAllowedSource(source));
          if (message !== undefined)
            context.addIssue({ code: 'custom', message: `has an entry that cannot be read: ${message}` });
        }
      })
      .describe('Hosts that may be read although they are not public: CIDRs or host:port, comma-separated.'),
    OUTBOUND_PROXY: setting
      .text()
      .superRefine((list, context) => {
        const message = problemOf(() => parseOutboundProxies(list));
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      })
      .describe(
        'Proxies that all outgoing connections go through, comma-separated: http://, https:// or socks5h://[user:password@]host:port. One job stays with one of them.',
      ),
  };
}

function problemOf(attempt: () => unknown): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
