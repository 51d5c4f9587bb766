import { attributesOf, childrenOf, elementName, type XmlNode } from './xml-node.js';

/**
 * Gives segment templates with a constant duration the timeline that they
 * stand for (ISO/IEC 23009-1 §5.3.9). ffmpeg asks for one segment too many of
 * a template without timeline, and its 404 could not be told from a hole.
 */
export function withExplicitTimelines(mpd: XmlNode): XmlNode {
  const totalSeconds = seconds(attributesOf(mpd)['mediaPresentationDuration']);
  const children = childrenOf(mpd, 'MPD').map((node) => {
    if (!('Period' in node)) return node;
    const { duration, start } = attributesOf(node);
    const periodSeconds =
      seconds(duration) ?? (totalSeconds === null ? null : totalSeconds - (seconds(start) ?? 0));
    return periodSeconds === null || periodSeconds <= 0 ? node : explicit(node, periodSeconds, 1);
  });
  return { ...mpd, MPD: children };
}

function explicit(node: XmlNode, periodSeconds: number, inheritedTimescale: number): XmlNode {
  const name = elementName(node);
  if (name === '#text') return node;
  const children = childrenOf(node, name);
  if (name === 'SegmentTemplate') return explicitTemplate(node, children, periodSeconds, inheritedTimescale);
  const own = children.find((child) => 'SegmentTemplate' in child);
  const timescale = Number((own && attributesOf(own)['timescale']) ?? inheritedTimescale);
  return { ...node, [name]: children.map((child) => explicit(child, periodSeconds, timescale)) };
}

function explicitTemplate(
  node: XmlNode,
  children: readonly XmlNode[],
  periodSeconds: number,
  inheritedTimescale: number,
): XmlNode {
  const { duration, ...attributes } = attributesOf(node);
  const ticks = Number(duration);
  const timescale = Number(attributes['timescale'] ?? inheritedTimescale);
  const hasTimeline = children.some((child) => 'SegmentTimeline' in child);
  if (hasTimeline || !(ticks > 0) || !(timescale > 0)) return node;
  // A rounding error of the stated durations makes no segment of its own.
  const count = Math.max(1, Math.ceil((periodSeconds * timescale) / ticks - 1e-3));
  const run = { S: [], ':@': { t: '0', d: String(ticks), r: String(count - 1) } };
  return { ...node, ':@': attributes, SegmentTemplate: [...children, { SegmentTimeline: [run] }] };
}

/** An `xs:duration` without years and months, such as `PT1H2M3.5S`. */
function seconds(duration: string | undefined): number | null {
  const match = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(duration ?? '');
  if (!match) return null;
  const [, days = 0, hours = 0, minutes = 0, rest = 0] = match.map((part) => Number(part || 0));
  return ((days * 24 + hours) * 60 + minutes) * 60 + rest;
}
