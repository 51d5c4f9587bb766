import type { Browser, Page } from 'playwright-core';
import { film, launchBrowser, visit } from '../support/browser.js';
import { startPageServer } from '../support/page-server.js';
import { stack } from '../support/stack.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
});

const endpoint = (page: Page, id: string) => page.locator(`#${id}`);
const outcome = (page: Page, id: string) => endpoint(page, id).locator('.outcome');

async function unfold(page: Page, id: string): Promise<void> {
  await endpoint(page, id).locator('summary').first().click();
}

describe('the reference of the API', () => {
  it('is collapsed at first, and shows the gateway’s own responses and the codes of each status, linked to their explanations and back', async () => {
    await using reader = await visit(browser, '/docs/');
    const { page, outside, faults } = reader;
    expect(await page.locator('details.endpoint').count()).toBe(5);
    expect(await page.locator('details[open]').count()).toBe(0);
    await unfold(page, 'removeBackground');
    const ofGateway = endpoint(page, 'removeBackground').locator('[data-status="502"]');
    await ofGateway.locator('summary').click();
    const examples = await ofGateway.locator('pre').allTextContents();
    expect(examples.join('\n')).toContain('"code": "service_unavailable"');
    expect(await ofGateway.innerText()).toContain('Retry-After');

    await unfold(page, 'getInfo');
    const answer = endpoint(page, 'getInfo').locator('[data-status="451"]');
    await answer.locator('summary').click();
    expect(await answer.locator('pre').textContent()).toContain('"code": "geo_blocked"');
    await answer.getByRole('link', { name: 'geo_blocked' }).click();
    await page.waitForURL('**/docs/errors#geo-blocked');
    await page.locator('#geo-blocked').getByRole('link', { name: 'video-dl' }).click();
    await page.waitForURL('**/docs/#videos');
    expect([...outside, ...faults]).toEqual([]);
  });
});

describe('trying an endpoint out, against the gateway that serves the reference,', () => {
  it('shows status, headers and details of a video, and can be cancelled', async () => {
    await using reader = await visit(browser, '/docs/');
    const { page, client, faults } = reader;
    await unfold(page, 'getInfo');
    const form = endpoint(page, 'getInfo');
    await form.getByLabel('url').fill(`${film}?it's=1`);
    expect(await form.locator('.curl').innerText()).toBe(
      `curl -fsS -G '${client.url}/api/info' --data-urlencode 'url=${film}?it'\\''s=1'`,
    );
    await form.getByLabel('url').fill(film);
    await form.getByRole('button', { name: 'Send' }).click();
    await outcome(page, 'getInfo').getByText('"title": "A short sample film"').waitFor();
    expect(await outcome(page, 'getInfo').textContent()).toMatch(/^200 after .*x-request-id: /s);
    expect(faults).toEqual([]);

    await form.getByLabel('url').fill(`${stack.pages}/hangs`);
    await form.getByRole('button', { name: 'Send' }).click();
    await form.getByRole('button', { name: 'Cancel' }).click();
    await outcome(page, 'getInfo').getByText('Cancelled.').waitFor();
    await form.getByRole('button', { name: 'Send' }).waitFor();
  });

  it('reads only the headers of media, and saves the file on request', async () => {
    await using reader = await visit(browser, '/docs/');
    const { page } = reader;
    await unfold(page, 'streamAudio');
    const form = endpoint(page, 'streamAudio');
    await form.getByLabel('url').fill(film);
    await form.getByRole('button', { name: 'Send' }).click();
    await outcome(page, 'streamAudio').getByText('content-type: audio/mpeg').waitFor();
    const started = page.waitForEvent('download');
    await form.getByRole('button', { name: 'Save the file' }).click();
    expect((await started).suggestedFilename()).toBe('A short sample film.mp3');
  });

  it('shows a problem unchanged, and sends a range as a header', async () => {
    await using reader = await visit(browser, '/docs/');
    const { page } = reader;
    await unfold(page, 'streamVideo');
    const form = endpoint(page, 'streamVideo');
    await form.getByLabel('url').fill(`${stack.pages}/gone`);
    await form.getByRole('button', { name: 'Send' }).click();
    await outcome(page, 'streamVideo').getByText('"code": "video_not_found"').waitFor();

    await form.getByLabel('url').fill(film);
    await form.getByLabel('Range', { exact: true }).fill('bytes=100-');
    expect(await form.locator('.curl').innerText()).toContain("-H 'Range: bytes=100-'");
    const asked = page.waitForRequest('**/api/stream/video?*');
    await form.getByRole('button', { name: 'Send' }).click();
    const request = await asked;
    expect(request.headers().range).toBe('bytes=100-');
    expect(new URL(request.url()).searchParams.get('fmt')).toBe('mp4-720');
  });

  it('expands the endpoint that a link points to, and shows the cut-out of an image', async () => {
    await using reader = await visit(browser, '/docs/#removeBackground');
    const { page, faults } = reader;
    await page.getByText('Width of hard edges').waitFor();
    const form = endpoint(page, 'removeBackground');
    await form.getByLabel('file').setInputFiles(stack.photo);
    expect(await form.locator('.curl').innerText()).toContain("-F 'file=@photo.jpg'");
    await form.getByRole('button', { name: 'Send' }).click();
    const picture = form.getByAltText('The image in the response');
    await picture.waitFor();
    expect(
      await picture.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth)),
    ).toBe(1600);
    expect(faults).toEqual([]);
  });

  it('sends requests below the path that it is served from', async () => {
    await using server = await startPageServer(
      {
        'api/health': (_req, res) =>
          res.writeHead(200, { 'Content-Type': 'application/json' }).end('{"status":"ok"}'),
      },
      '/media/',
    );
    await using reader = await visit(browser, '/docs/', { url: server.url });
    const { page } = reader;
    await unfold(page, 'getHealth');
    const form = endpoint(page, 'getHealth');
    expect(await form.locator('.curl').innerText()).toBe(`curl -fsS '${server.url}/api/health'`);
    await form.getByRole('button', { name: 'Send' }).click();
    await outcome(page, 'getHealth').getByText('"status": "ok"').waitFor();
  });
});
