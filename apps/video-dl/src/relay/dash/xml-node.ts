/** A node of fast-xml-parser's `preserveOrder` form: `{ Name: children, ':@': attributes }` or `{ '#text': … }`. */
export type XmlNode = Record<string, unknown>;

/** `#text` for a piece of text. */
export function elementName(node: XmlNode): string {
  return Object.keys(node).find((key) => key !== ':@') ?? '#text';
}

export function attributesOf(node: XmlNode): Record<string, string> {
  const attributes = node[':@'];
  if (typeof attributes !== 'object' || attributes === null) return {};
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, String(value)]));
}

export function childrenOf(node: XmlNode, name: string): XmlNode[] {
  return nodesOf(node[name]);
}

export function nodesOf(value: unknown): XmlNode[] {
  if (!Array.isArray(value)) return [];
  return value.filter((node: unknown): node is XmlNode => typeof node === 'object' && node !== null);
}

/** The text directly inside an element. */
export function textOf(node: XmlNode, name: string): string {
  const text = childrenOf(node, name).find((child) => '#text' in child)?.['#text'];
  return typeof text === 'string' ? text.trim() : '';
}

/** Writes a node and what is in it; no declaration, no DOCTYPE, no comments. */
export function serializeXml(node: XmlNode): string {
  const name = elementName(node);
  const text = node['#text'];
  if (name === '#text') return escape(typeof text === 'string' ? text : '');
  const attributes = Object.entries(attributesOf(node)).map(([key, value]) => ` ${key}="${escape(value)}"`);
  const content = childrenOf(node, name).map(serializeXml).join('');
  return `<${name}${attributes.join('')}>${content}</${name}>`;
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
