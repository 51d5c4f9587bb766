import { openAsBlob } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

const form = new FormData();
form.append('file', await openAsBlob('photo.jpg'), 'photo.jpg');
form.append('threshold', '20');

const send = () => fetch(`${process.env.BASE_URL}/api/remove-background`, { method: 'POST', body: form });
let response = await send();
if (response.status === 429) {
  await delay(Number(response.headers.get('Retry-After')) * 1000);
  response = await send();
}
if (!response.ok) throw new Error((await response.json()).detail);
await writeFile('cutout.png', response.body);
