import { inspectScreen, usePortal } from './portal.ts';

describe('the request log of a merchant', () => {
  const portal = usePortal({ payments: 0 });
  let key: string;

  beforeAll(async () => {
    const developer = await portal.signedIn(portal.scope.merchantId, 'developer');
    key = (await developer.send('POST', '/api/portal/keys', { body: { name: 'Shop server' } })).body.data.secret;
  }, 180_000);

  /** Calls the API with the key; returns the request id. */
  const call = async (path: string, body?: object): Promise<string> => {
    const response = await fetch(portal.apiUrl + path, {
      method: body ? 'POST' : 'GET',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return response.headers.get('x-request-id') ?? '';
  };

  test('is empty with the next step, then lists the calls and opens one by its request id', async () => {
    const { page, problems, close } = await portal.open('/test/requests');
    await page.waitForSelector('text=No API calls in the last 30 days.');
    await call('/api/checkout/channels');
    const failed = await call('/api/checkout/sessions', { amount: 1 });
    await page.waitForSelector('text=VALIDATION_ERROR');
    expect(await page.locator('tbody tr').count()).toBe(2);
    expect(await page.locator('tbody').innerText()).toContain('Shop server');

    await page.fill('[name=requestId]', failed);
    await page.press('[name=requestId]', 'Enter');
    await page.waitForURL(`**/requests?requestId=${failed}`);
    await page.locator('tbody tr').nth(1).waitFor({ state: 'detached' });
    await page.click('tbody a');
    await page.waitForURL(`**open=${failed}`);
    const drawer = page.locator('dialog');
    expect(await drawer.innerText()).toMatch(/400[^]*VALIDATION_ERROR[^]*req_[^]*Shop server[^]*127\.0\.0\.1/);
    await drawer.getByText('All calls with this key').click();
    await page.waitForURL(/\/requests\?keyId=key_\w+$/);
    await page.locator('tbody tr').nth(1).waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  test('narrows to a status, a method and a path, which the address holds', async () => {
    await call('/api/checkout/channels');
    const { page, problems, close } = await portal.open('/test/requests?statusClass=4xx');
    await page.waitForSelector('text=VALIDATION_ERROR');
    expect(await page.locator('tbody').innerText()).not.toContain('/api/checkout/channels');
    await page.click('button:has-text("Status")');
    await page.getByLabel('2xx: success').click();
    await page.click('button:has-text("Path")');
    await page.getByLabel('/api/checkout/channels').click();
    await page.waitForURL('**/requests?statusClass=2xx&route=%2Fapi%2Fcheckout%2Fchannels');
    await page.click('button:has-text("Method")');
    await page.getByLabel('POST').click();
    await page.waitForSelector('text=No call matches these filters.');
    await page.click('text=Clear filters');
    await page.waitForSelector('text=VALIDATION_ERROR');
    expect(problems).toEqual([]);
    await close();
  });

  test('is hidden from a role that may not see it, and names the roles that may', async () => {
    const { page, close } = await portal.open('/test/requests', { role: 'support', expected: /403/ });
    expect(await page.locator('main').innerText()).toContain('owner, admin or developer');
    expect(await page.locator('#sidebar').innerText()).not.toContain('Request log');
    await close();
  });

  test.each(['en', 'am'] as const)('has no fault of accessibility, in %s', async (language) => {
    const requestId = await call('/api/checkout/sessions', {});
    const tab = await portal.open(`/test/requests?requestId=${requestId}`, { language });
    await tab.page.waitForSelector('tbody tr');
    const found = [await inspectScreen(tab, `portal-requests-${language}`)];
    await tab.page.click('tbody a');
    found.push(await inspectScreen(tab, `portal-request-${language}`));
    expect(found.flat()).toEqual([]);
    expect(tab.problems).toEqual([]);
    await tab.close();
  });
});
