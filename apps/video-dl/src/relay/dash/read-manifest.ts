import { SaxesParser } from 'saxes';
import { DomainError } from '@media-services/http-common';
import { brokenRules, TransferFault } from '../../upstream/transfer-fault.js';

/** An element of a manifest (ISO/IEC 23009-1, 5.3) with the children that are read. */
export interface ManifestElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly ManifestElement[];
  readonly text: string;
}

interface OpenElement extends ManifestElement {
  readonly children: ManifestElement[];
  text: string;
}

/** All others are skipped with what is in them. Names are matched as they are written. */
const knownElements = new Set([
  ...['MPD', 'Period', 'BaseURL', 'AdaptationSet', 'Representation', 'ContentProtection'],
  ...[
    'SegmentTemplate',
    'SegmentTimeline',
    'S',
    'SegmentList',
    'SegmentURL',
    'SegmentBase',
    'Initialization',
  ],
]);
const maxElements = 12_000;
const maxDepth = 16;
const maxTextLength = 8192;
const sliceLength = 65_536;

/**
 * Reads an MPD into the few elements that name segments, in one pass and bounded memory.
 * @returns its root
 * @throws TransferFault `drm_protected` | `live_not_supported` | `upstream_error`
 */
export function readManifest(text: string): ManifestElement {
  const reader = new ManifestReader();
  for (let at = 0; at < text.length; at += sliceLength) reader.write(text.slice(at, at + sliceLength));
  const root = reader.finish();
  if (root.attributes['type'] === 'dynamic') {
    const detail = 'This is a live broadcast. Only finished videos can be read; try again when it has ended.';
    throw new TransferFault(new DomainError('live_not_supported', detail), 'none');
  }
  return root;
}

class ManifestReader {
  readonly #parser = new SaxesParser();
  readonly #open: OpenElement[] = [];
  #root: ManifestElement | null = null;
  #elements = 0;
  /** How deep we are in an element that is skipped. */
  #skipped = 0;

  constructor() {
    this.#parser.on('error', (error) => {
      throw notManifest(error);
    });
    this.#parser.on('doctype', () => {
      throw notManifest(new Error('it declares a document type'));
    });
    this.#parser.on('opentag', ({ name, attributes }) => this.#openElement(name, attributes));
    this.#parser.on('text', (text) => this.#addText(text));
    this.#parser.on('closetag', () => this.#closeElement());
  }

  write(slice: string): void {
    this.#parser.write(slice);
  }

  finish(): ManifestElement {
    this.#parser.close();
    if (this.#root === null) throw notManifest(new Error('it has no root'));
    return this.#root;
  }

  #openElement(name: string, attributes: Record<string, string>): void {
    this.#elements += 1;
    if (this.#elements > maxElements) throw brokenRules('sent a manifest with too many elements');
    if (this.#open.length === 0 && name !== 'MPD') throw notManifest(new Error('its root is no MPD'));
    if (this.#skipped > 0 || !knownElements.has(name)) {
      this.#skipped += 1;
      return;
    }
    if (name === 'ContentProtection') {
      const detail = 'The video is protected by DRM and cannot be read.';
      throw new TransferFault(new DomainError('drm_protected', detail), 'none');
    }
    if (attributes['xlink:href'] !== undefined)
      throw brokenRules('sent a manifest that is spread over several files');
    if (this.#open.length >= maxDepth) throw brokenRules('sent a manifest that is nested too deeply');
    this.#open.push({ name, attributes, children: [], text: '' });
  }

  #addText(text: string): void {
    const element = this.#open.at(-1);
    if (this.#skipped > 0 || element?.name !== 'BaseURL') return;
    if (element.text.length + text.length > maxTextLength)
      throw brokenRules('sent a manifest with a URL that is too long');
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

function notManifest(cause: unknown): TransferFault {
  return brokenRules('sent something else than the DASH manifest it named', cause);
}
