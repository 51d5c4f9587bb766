import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { uploadReader } from '../../dist/api/upload.js';

test('a form that was read leaves nothing that listens to its signal', async () => {
  const read = uploadReader(1000);
  let signal: AbortSignal | undefined;
  const app = express().post('/', async (req, res) => {
    signal = AbortSignal.any([new AbortController().signal]);
    const { file } = await read(req, res, signal);
    res.json({ size: file?.bytes.length, listeners: getEventListeners(signal, 'abort').length });
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(500)]), 'picture.jpg');
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: form });
    expect(await response.json()).toEqual({ size: 500, listeners: 0 });
  } finally {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});
