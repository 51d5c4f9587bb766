import { SaxesParser } from 'saxes';
import { invalid, live, notJoinable, overLimit, type Rejection } from '../formats/rejection.js';
import { maxUrlLength } from './segment-table.js';

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
  const root = new ManifestReader(maxElements).read(text);
  if (root.attributes['type'] === 'dynamic') throw live();
  return root;
}

class ManifestReader {
  readonly #parser = new SaxesParser();
  readonly #maxElements: number;
  readonly #open: OpenElement[] = [];
  #root: ManifestElement | null = null;
  #elements = 0;
  /** Depth within a skipped element. */
  #skipped = 0;

  constructor(maxElements: number) {
    this.#maxElements = maxElements;
    this.#parser.on('error', () => {
      throw notManifest();
    });
    this.#parser.on('doctype', () => {
      throw notManifest();
    });
    // Every element that we read is in one namespace, which may have a prefix.
    this.#parser.on('opentag', ({ name, attributes }) =>
      this.#openElement(name.slice(name.indexOf(':') + 1), attributes),
    );
    this.#parser.on('text', (text) => this.#addText(text));
    this.#parser.on('closetag', () => this.#closeElement());
  }

  read(text: string): ManifestElement {
    for (let at = 0; at < text.length; at += sliceLength)
      this.#parser.write(text.slice(at, at + sliceLength));
    this.#parser.close();
    if (this.#root === null) throw notManifest();
    return this.#root;
  }

  #openElement(name: string, attributes: Record<string, string>): void {
    this.#elements += 1;
    if (this.#elements > this.#maxElements) throw overLimit(`${this.#maxElements} elements`);
    if (this.#open.length === 0 && name !== 'MPD') throw notManifest();
    if (this.#skipped > 0 || !knownElement.test(name)) {
      this.#skipped += 1;
      return;
    }
    const remote = attributes['xlink:href'];
    // This URN marks an element to ignore (ISO 23009-1, 5.5.3).
    if (remote === 'urn:mpeg:dash:resolve-to-zero:2013') {
      this.#skipped += 1;
      return;
    }
    if (remote !== undefined) throw notJoinable('has a manifest in several files');
    if (this.#open.length >= maxDepth) throw invalid('sent a manifest that is nested too deeply');
    this.#open.push({ name, attributes: known(attributes), children: [], text: '' });
  }

  #addText(text: string): void {
    const element = this.#open.at(-1);
    if (this.#skipped > 0 || element?.name !== 'BaseURL') return;
    if (element.text.length + text.length > maxUrlLength)
      throw invalid('sent a manifest with a URL that is too long');
    element.text += text;
  }

  #closeElement(): void {
    if (this.#skipped > 0) {
      this.#skipped -= 1;
      return;
    }
    const element = this.#open.pop();
    if (element === undefined) return;
    const parent = this.#open.at(-1);
    if (parent === undefined) this.#root = element;
    else parent.children.push(element);
  }
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
