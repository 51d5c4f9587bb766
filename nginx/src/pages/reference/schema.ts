import { escapeHtml, inlineHtml } from '../html.js';
import { resolve, type Schema } from './open-api.js';

type Components = Readonly<Record<string, Schema>>;

/** Describes the type of a value: `whole number or null`, `list of objects`, `"a" or "b"`. */
export function typeWords(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' or ');
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeWords).join(' or ');
  if (schema.format === 'binary') return 'file';
  if (schema.type === 'array') return schema.items ? `list of: ${typeWords(schema.items)}` : 'list';
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? ['any value']);
  const words = types.map((type) => (type === 'integer' ? 'whole number' : type)).join(' or ');
  return [words, rangeWords(schema)].filter((part) => part !== '').join(', ');
}

/** Meaningful bounds, so not the largest safe integer. */
function rangeWords({ minimum, maximum, maxLength }: Schema): string {
  const bound = (value?: number) =>
    value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : undefined;
  const [low, high] = [bound(minimum), bound(maximum)];
  if (maxLength !== undefined) return `at most ${maxLength} characters`;
  if (low !== undefined && high !== undefined) return `${low} to ${high}`;
  if (low !== undefined) return `at least ${low}`;
  return high === undefined ? '' : `at most ${high}`;
}

/** The members of an object as a list, those of its members below them; nothing for a plain value. */
export function membersHtml(schema: Schema, components: Components): string {
  const { properties, required } = objectOf(resolve(schema, components));
  const members = Object.entries(properties ?? {});
  if (members.length === 0) return '';
  const items = members.map(([name, member]) => {
    const optional = required?.includes(name) === false ? ', optional' : '';
    return `<li><code>${escapeHtml(name)}</code> <span class="kind">${escapeHtml(typeWords(resolve(member, components)) + optional)}</span> ${inlineHtml(member.description ?? '')}${membersHtml(member, components)}</li>`;
  });
  return `<ul class="members">${items.join('')}</ul>`;
}

/** The object itself, or what a list or an alternative has of them. */
function objectOf(schema: Schema): Schema {
  if (schema.items !== undefined) return schema.items;
  return schema.anyOf?.find(({ properties }) => properties !== undefined) ?? schema;
}
