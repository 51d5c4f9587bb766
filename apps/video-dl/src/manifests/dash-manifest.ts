import { SaxesParser } from 'saxes';
import { invalid, live, notJoinable, overLimit, type Rejection } from '../formats/rejection.js';

/** The attributes of an element that match `knownAttribute`. */
export type Attributes = Readonly<Partial<Record<string, string>>>;

/** A manifest element (ISO/IEC 23009-1, 5.3) with the children that we use. */
export interface ManifestElement {
  readonly name: string;
  readonly attributes: Attributes;
  readonly children: readonly ManifestElement[];
  readonly text: string;
}

interface OpenElement extends ManifestElement {
  readonly children: ManifestElement[];
  text: string;
}

/** Other elements are skipped with their content. Names must match exactly. */
const knownElement =
  /^(?:MPD|Period|BaseURL|AdaptationSet|Representation|ContentProtection|SegmentTemplate|SegmentTimeline|S|SegmentList|SegmentURL|SegmentBase|Initialization)$/;
/** Other attributes are dropped immediately, however many there are. */
const knownAttribute =
  /^(?:id|type|start|duration|mediaPresentationDuration|contentType|mimeType|width|height|bandwidth|media|initialization|startNumber|endNumber|timescale|t|d|r|presentationTimeOffset|sourceURL|range|mediaRange)$/;
const maxDepth = 16;
/** How much of the text is given to the parser at once. */
const sliceLength = 65_536;

/**
 * Parses an MPD into the few elements that describe segments, in one pass and bounded memory.
 * @returns its root
 * @throws Rejection `live_not_supported` | `too_long` | `upstream_error`
 */
export function readManifest(text: string, maxElements: number): ManifestElement {
  const parser = new SaxesParser();
  const document: OpenElement = { name: '', attributes: {}, children: [], text: '' };
  const open = [document];
  let elements = 0;
  /** Depth within a skipped element. */
  let skipped = 0;
  const fail = () => {
    throw notManifest();
  };
  parser.on('error', fail);
  parser.on('doctype', fail);
  parser.on('opentag', ({ name: fullName, attributes }) => {
    // Every element that we read is in one namespace, which may have a prefix.
    const name = fullName.slice(fullName.indexOf(':') + 1);
    elements += 1;
    if (elements > maxElements) throw overLimit(`${maxElements} elements`);
    if (open.length === 1 && name !== 'MPD') throw notManifest();
    const remote = attributes['xlink:href'];
    // This URN marks an element to ignore (ISO 23009-1, 5.5.3).
    if (skipped > 0 || !knownElement.test(name) || remote === 'urn:mpeg:dash:resolve-to-zero:2013') {
      skipped += 1;
      return;
    }
    if (remote !== undefined) throw notJoinable('has a manifest in several files');
    if (open.length > maxDepth) throw invalid('sent a manifest that is nested too deeply');
    const element = { name, attributes: known(attributes), children: [], text: '' };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on('text', (part) => {
    const element = open.at(-1);
    if (skipped === 0 && element?.name === 'BaseURL') element.text += part;
  });
  parser.on('closetag', () => {
    if (skipped > 0) skipped -= 1;
    else open.pop();
  });
  for (let at = 0; at < text.length; at += sliceLength) parser.write(text.slice(at, at + sliceLength));
  parser.close();
  const [root] = document.children;
  if (root === undefined) throw notManifest();
  if (root.attributes['type'] === 'dynamic') throw live();
  return root;
}

function known(attributes: Record<string, string>): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => knownAttribute.test(name)));
}

function notManifest(): Rejection {
  return invalid('sent something other than a DASH manifest');
}

export function childrenOf(element: ManifestElement, name: string): ManifestElement[] {
  return element.children.filter((child) => child.name === name);
}
