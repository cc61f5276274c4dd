import { inspectScreen, usePortal } from './portal.ts';

describe('the API keys of a merchant', () => {
  const portal = usePortal({ payments: 0 });

  const statusWith = async (key: string): Promise<number> =>
    (await fetch(`${portal.apiUrl}/api/checkout/channels`, { headers: { 'x-api-key': key } })).status;

  test('a key is created once, shown once, works, is rotated without an overlap and revoked', async () => {
    const { page, problems, close } = await portal.open('/test/keys', { expected: /status of 400/ });
    await page.waitForSelector('text=No keys yet.');
    await page.click('button:has-text("New key")');
    await page.getByLabel('Name').fill('Shop server');
    await page.getByLabel('Addresses').fill('everywhere');
    await page.click('dialog button:text-is("Create")');
    await page.waitForSelector('text=Write addresses in CIDR notation');
    expect(await page.getByLabel('Name').inputValue()).toBe('Shop server');
    await page.getByLabel('Addresses').fill('127.0.0.0/8');
    await page.getByLabel('Only these scopes').check();
    await page.click('dialog button:text-is("Create")');
    await page.waitForSelector('text=Choose at least one scope.');
    await page.getByLabel('channels:read').check();
    await page.locator('dialog button:text-is("Create")').dblclick();
    const first = await page.locator('dialog pre').first().innerText();
    expect(await page.locator('dialog pre').nth(1).innerText()).toContain(`curl -H "x-api-key: ${first}"`);
    expect(await page.locator('dialog pre').nth(1).innerText()).toMatch(/"http:[^"]+[/]api[/]checkout[/]channels"$/);
    expect(await statusWith(first)).toBe(200);
    await page.click('text=I have stored it');
    expect(await page.locator('tbody tr').count()).toBe(1);
    expect(await page.locator('main').innerText()).not.toContain(first);

    await page.click('button:text-is("Rotate")');
    await page.getByLabel('Not at all').check();
    await page.click('dialog button:text-is("Rotate")');
    const second = await page.locator('dialog pre').first().innerText();
    expect(second).not.toBe(first);
    await page.click('text=I have stored it');
    expect(await statusWith(second)).toBe(200);
    await page.click('button:text-is("Revoke")');
    await page.click('dialog button:text-is("Revoke")');
    await page.waitForSelector('td >> text=Revoked');
    expect(problems).toEqual([]);
    await close();
  });

  test('a live key is refused with its reason and the way to get one', async () => {
    const { page, close } = await portal.open('/live/keys', { role: 'owner', expected: /403/ });
    const create = page.locator('button:has-text("New key")');
    expect(await create.isDisabled()).toBe(true);
    expect(await page.locator('main').innerText()).toContain('once the business is verified and a test payment');
    const developer = await portal.open('/live/keys');
    expect(await developer.page.locator('main').innerText()).toContain('Ask somebody with the role owner or admin.');
    await page.click('main a:text-is("Get started")');
    await page.waitForURL('**/test/get-started');
    await Promise.all([close(), developer.close()]);
  });

  test.each(['en', 'am'] as const)('the screen has no fault of accessibility, in %s', async (language) => {
    const tab = await portal.open('/test/keys', { language });
    const found = [await inspectScreen(tab, `portal-keys-${language}`)];
    await tab.page.click('main header button');
    found.push(await inspectScreen(tab, `portal-new-key-${language}`));
    expect(found.flat()).toEqual([]);
    expect(tab.problems).toEqual([]);
    await tab.close();
  });
});
