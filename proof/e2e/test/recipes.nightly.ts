import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { newClient } from './support/client.js';
import { root, stack } from './support/stack.js';

const recipe = (name: string) => readFileSync(join(root, 'docs/recipes', name), 'utf8');
const film = () => `${stack.films}/film`;
const photo = () => new Blob([readFileSync(stack.photo)], { type: 'image/jpeg' });

/** The recipe's URL at the gateway of the test. */
const at = (gateway: string, url: string) => url.replace('http://media.lan:8080', gateway);

async function startOf(response: Response): Promise<string> {
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer()).toString('latin1', 0, 4);
}

/** What `rest_command` gives to templates: it parses a body only if its type is exactly `application/json`. */
async function homeAssistantContent(response: Response): Promise<unknown> {
  const text = await response.text();
  return response.headers.get('content-type') === 'application/json' ? JSON.parse(text) : text;
}

/** Renders the one template that the recipe uses, as Home Assistant does: `from_json` takes only text. */
function messageOf(template: string, content: unknown): string {
  const parts = /^\{\{ \(info\.content \| from_json\(default=\{'detail': '(.*)'\}\)\)\.detail \}\}$/.exec(
    template,
  );
  if (parts === null) throw new Error(`The test does not know this template: ${template}`);
  if (typeof content !== 'string') throw new TypeError('from_json: expected a string');
  try {
    return z.object({ detail: z.string() }).parse(JSON.parse(content)).detail;
  } catch (error) {
    if (error instanceof SyntaxError) return parts[1] ?? '';
    throw error;
  }
}

describe('the requests of the recipes', () => {
  it('Home Assistant looks up a page and plays its audio', async () => {
    const schema = z.object({
      rest_command: z.object({ video_info: z.object({ url: z.string(), method: z.literal('get') }) }),
    });
    const text = recipe('home-assistant.yaml');
    const { url } = schema.parse(parse(text)).rest_command.video_info;
    const sound = /media_content_id: '(.*)'/.exec(text)?.[1] ?? '';
    await using client = await newClient();
    const filled = (template: string) =>
      at(client.url, template.replace('{{ page | urlencode }}', encodeURIComponent(film())));

    const info = await fetch(filled(url));
    expect(await info.json()).toMatchObject({ title: 'A short sample film' });
    expect(await startOf(await fetch(filled(sound)))).toMatch(/^ID3/);

    const notification = /message: "(.*)"/.exec(text)?.[1] ?? '';
    const refused = await homeAssistantContent(await fetch(filled(url).replace('film', 'missing')));
    expect(messageOf(notification, refused)).toMatch(/video|page/i);
    expect(messageOf(notification, '<html>502 Bad Gateway</html>')).toBe('No answer from the server.');
  });

  it('n8n removes the background of an image', async () => {
    const node = z.object({
      method: z.string(),
      url: z.string(),
      contentType: z.literal('multipart-form-data'),
      bodyParameters: z.object({
        parameters: z.array(
          z.discriminatedUnion('parameterType', [
            z.object({ parameterType: z.literal('formBinaryData'), name: z.string() }),
            z.object({ parameterType: z.literal('formData'), name: z.string(), value: z.string() }),
          ]),
        ),
      }),
    });
    const { nodes } = z
      .object({ nodes: z.array(z.object({ name: z.string(), parameters: z.unknown() })) })
      .parse(JSON.parse(recipe('n8n.json')));
    const request = node.parse(nodes.find(({ name }) => name === 'Cut out')?.parameters);
    const form = new FormData();
    for (const field of request.bodyParameters.parameters) {
      if (field.parameterType === 'formData') form.set(field.name, field.value);
      else form.set(field.name, photo(), 'picture.jpg');
    }
    await using client = await newClient();
    const answer = await fetch(at(client.url, request.url), { method: request.method, body: form });
    expect(await startOf(answer)).toBe('\x89PNG');
  });

  it('an iOS shortcut sends the documented fields', async () => {
    const text = readFileSync(join(root, 'docs/recipes.md'), 'utf8');
    const [upload = '', sound = ''] = [...text.matchAll(/`(http:\/\/media\.lan:8080\/api[^`]*)`/g)].map(
      ([, url]) => url,
    );
    const field = /a field `(\w+)`/.exec(text)?.[1] ?? '';
    await using client = await newClient();
    const form = new FormData();
    form.set(field, photo(), 'IMG_0001.jpeg');
    const cutOut = await fetch(at(client.url, upload), { method: 'POST', body: form });
    expect(await startOf(cutOut)).toBe('\x89PNG');
    expect(await startOf(await fetch(at(client.url, sound) + encodeURIComponent(film())))).toMatch(/^ID3/);
  });
});
