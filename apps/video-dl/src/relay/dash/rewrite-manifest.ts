import { DomainError } from '@media-services/http-common';
import { XMLParser } from 'fast-xml-parser';
import { brokenPromise, TransferFault } from '../../upstream/transfer-fault.js';
import { withExplicitTimelines } from './explicit-timeline.js';
import {
  attributesOf,
  childrenOf,
  elementName,
  nodesOf,
  serializeXml,
  textOf,
  type XmlNode,
} from './xml-node.js';

const options = {
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  trimValues: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
} as const;

/** Elements that name other places to get a manifest from. */
const droppedElements = new Set([
  'Location',
  'PatchLocation',
  'UTCTiming',
  'SupplementalProperty',
  'Metrics',
  'Reporting',
]);
const addressAttributes = ['media', 'initialization', 'sourceURL', 'index', 'bitstreamSwitching'];

/**
 * Rewrites an MPD so that every address in it leads to the relay.
 * @param manifestUrl where it came from, after redirects
 * @param relayed the relay's address for an absolute one; keeps the path, so that relative addresses go on working
 * @throws TransferFault `live_not_supported` | `drm_protected` | `upstream_error`
 */
export function rewriteManifest(text: string, manifestUrl: string, relayed: (url: URL) => string): string {
  const nodes = parse(text);
  const found = nodes.find((node) => 'MPD' in node);
  if (!found) throw brokenPromise('sent something else than the DASH manifest it named');
  const mpd = withExplicitTimelines(found);
  if (attributesOf(mpd)['type'] === 'dynamic') {
    const detail = 'This is a live broadcast. Only finished videos can be read; try again when it has ended.';
    throw new TransferFault(new DomainError('live_not_supported', detail), 'none');
  }
  const children = childrenOf(mpd, 'MPD');
  const ownBase = children.find((node) => 'BaseURL' in node);
  const base = resolve(ownBase ? textOf(ownBase, 'BaseURL') : '.', manifestUrl);
  const rest = children
    .filter((node) => !('BaseURL' in node))
    .flatMap((node) => rewriteNode(node, base, relayed));
  const rewritten = [{ BaseURL: [{ '#text': relayed(base) }] }, ...rest];
  return serializeXml({ ':@': attributesOf(mpd), MPD: rewritten });
}

function parse(text: string): XmlNode[] {
  try {
    return nodesOf(new XMLParser(options).parse(text));
  } catch (error) {
    throw brokenPromise('sent something else than the DASH manifest it named', error);
  }
}

function rewriteNode(node: XmlNode, base: URL, relayed: (url: URL) => string): XmlNode[] {
  const name = elementName(node);
  if (droppedElements.has(name)) return [];
  if (name === 'ContentProtection') {
    throw new TransferFault(
      new DomainError('drm_protected', 'The video is protected by DRM and cannot be read.'),
      'none',
    );
  }
  if (name === '#text') return [node];
  const attributes = Object.fromEntries(
    Object.entries(attributesOf(node))
      .filter(([attribute]) => !attribute.startsWith('xlink:'))
      .map(([attribute, value]) =>
        addressAttributes.includes(attribute) && leavesTheBase(value)
          ? [attribute, relayed(resolve(value, base.href))]
          : [attribute, value],
      ),
  );
  const children = childrenOf(node, name);
  if (name === 'BaseURL') {
    const address = textOf(node, 'BaseURL');
    const text = leavesTheBase(address) ? relayed(resolve(address, base.href)) : address;
    return [{ BaseURL: [{ '#text': text }] }];
  }
  const ownBase = children.find((child) => 'BaseURL' in child);
  const childBase = ownBase ? resolve(textOf(ownBase, 'BaseURL'), base.href) : base;
  const rewritten = children.flatMap((child) =>
    rewriteNode(child, child === ownBase ? base : childBase, relayed),
  );
  return [{ [name]: rewritten, ...(Object.keys(attributes).length > 0 && { ':@': attributes }) }];
}

/** Whether an address has a scheme, a host, a path from the root or one that climbs: all others stay relative. */
function leavesTheBase(address: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]*:|\/)|(?:^|\/)\.\.(?:\/|$)/i.test(address);
}

function resolve(address: string, base: string): URL {
  const url = URL.canParse(address, base) ? new URL(address, base) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw brokenPromise('sent a manifest with an address that is not a web address');
  }
  return url;
}
