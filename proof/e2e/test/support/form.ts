import { readFile } from 'node:fs/promises';
import { stack } from './stack.js';

/** The form that bg-removal reads, with the sample photo unless another file is given. */
export async function imageForm(
  fields: Readonly<Record<string, string>> = {},
  file?: { bytes: Uint8Array<ArrayBuffer>; name: string },
): Promise<FormData> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  const { bytes, name } = file ?? { bytes: new Uint8Array(await readFile(stack.photo)), name: 'photo.jpg' };
  form.append('file', new Blob([bytes]), name);
  return form;
}
