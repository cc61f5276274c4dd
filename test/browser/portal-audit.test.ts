import { confirmTwoFactor } from '../portal/portal.ts';
import { inspectScreen, usePortal } from './portal.ts';

describe("the audit log of a merchant's people and keys", () => {
  const portal = usePortal({ payments: 0 });
  let subscriptionId: string;
  let keyId: string;

  beforeAll(async () => {
    const { merchantId } = portal.scope;
    const developer = await portal.signedIn(merchantId, 'developer');
    const created = (await developer.send('POST', '/api/portal/keys', { body: { name: 'Shop server' } })).body.data;
    keyId = created.keyId;
    const byKey = async (method: string, path: string, body: object) => {
      const headers = { 'x-api-key': created.secret as string, 'content-type': 'application/json' };
      const address = `${portal.apiUrl}/api/checkout/webhooks/subscriptions${path}`;
      return (await (await fetch(address, { method, headers, body: JSON.stringify(body) })).json()) as {
        data: { subscriptionId: string };
      };
    };
    const wanted = { url: 'https://shop.example.et/hooks', eventTypes: ['*'] };
    ({ subscriptionId } = (await byKey('POST', '', wanted)).data);
    await byKey('PATCH', `/${subscriptionId}`, { active: false, eventTypes: ['payment.succeeded'] });
    const owner = await portal.signedIn(merchantId, 'owner');
    await confirmTwoFactor(portal.db, owner.email);
    const body = { email: 'hana@people.example', role: 'viewer' };
    await owner.send('POST', '/api/portal/team/invitations', { body });
  }, 180_000);

  test('shows a change with its fields before and after, and the way to its API call', async () => {
    const { page, problems, close } = await portal.open('/test/audit', { role: 'owner' });
    await page.waitForSelector('text=Person invited');
    expect(await page.locator('tbody tr').count()).toBe(4);
    await page.click('text=Webhook changed');
    const drawer = page.locator('dialog');
    const text = await drawer.innerText();
    expect(text).toMatch(/Shop server[^]*127\.0\.0\.1/);
    const rows = await drawer.locator('tbody tr').allInnerTexts();
    expect(rows.map((row) => row.split(/\s+/).join(' '))).toEqual(['Active yes no', 'Events * payment.succeeded']);
    await drawer.getByText('Show the API call').click();
    await page.waitForURL(/\/test\/requests\?requestId=req_\w+&open=req_\w+$/);
    await page.waitForSelector('dialog >> text=127.0.0.1');
    expect(problems).toEqual([]);
    await close();
  });

  test('names the fields of every change, and their values, in Amharic', async () => {
    const { page, problems, close } = await portal.open('/test/audit', { role: 'owner', language: 'am' });
    const drawer = page.locator('dialog');
    const fields: string[] = [];
    for (let number = 0; number < 4; number += 1) {
      await page.locator('main tbody tr a').nth(number).click();
      await drawer.locator('tbody tr').first().waitFor();
      expect(await drawer.locator('tbody td:first-child code').allInnerTexts()).toEqual([]);
      fields.push(...(await drawer.locator('tbody tr').allInnerTexts()).map((row) => row.split(/\s+/).join(' ')));
      await page.keyboard.press('Escape');
      await drawer.waitFor({ state: 'detached' });
    }
    expect(fields).toEqual(expect.arrayContaining(['ንቁ አዎ አይ', 'ሚና ተመልካች', 'ዓይነት ሁሉም']));
    expect(problems).toEqual([]);
    await close();
  });

  test('narrows to an action, a person and an id, and saves what is listed as a file', async () => {
    const { page, problems, close } = await portal.open('/test/audit', { role: 'owner' });
    await page.click('button:has-text("By")');
    await page.getByLabel('Shop server').click();
    await page.waitForURL(`**/audit?actor=${keyId}`);
    await page.locator('tbody tr').nth(2).waitFor({ state: 'detached' });
    await page.click('button:has-text("Change")');
    await page.getByLabel('Webhook created').click();
    await page.waitForURL('**action=webhook.create');
    const [file] = await Promise.all([page.waitForEvent('download'), page.click('text=Export')]);
    expect(file.suggestedFilename()).toMatch(/^audit-sandbox-[\d-]+-to-[\d-]+\.csv$/);
    await page.click('text=Clear filters');
    await page.fill('[name=resourceId]', subscriptionId);
    await page.press('[name=resourceId]', 'Enter');
    await page.waitForURL(`**/audit?resourceId=${subscriptionId}`);
    await page.locator('tbody tr').nth(2).waitFor({ state: 'detached' });
    expect(await page.locator('tbody tr').count()).toBe(2);
    expect(problems).toEqual([]);
    await close();
  });

  test('shows a developer only the own changes, and those of the team in live too', async () => {
    const developer = await portal.open('/test/audit');
    await developer.page.waitForSelector('text=No changes in the last 30 days.');
    expect(await developer.page.locator('main').innerText()).toContain(
      'Owners and admins see the changes of everybody',
    );
    const live = await portal.open('/live/audit', { role: 'viewer' });
    await live.page.waitForSelector('text=Person invited');
    expect(await live.page.locator('tbody tr').count()).toBe(1);
    await Promise.all([developer.close(), live.close()]);
  });

  test.each(['en', 'am'] as const)('has no fault of accessibility, in %s', async (language) => {
    const tab = await portal.open('/test/audit?action=webhook.change', { language, role: 'viewer' });
    await tab.page.waitForSelector('tbody tr');
    const found = [await inspectScreen(tab, `portal-audit-${language}`)];
    await tab.page.click('tbody a');
    found.push(await inspectScreen(tab, `portal-audit-change-${language}`));
    expect(found.flat()).toEqual([]);
    expect(tab.problems).toEqual([]);
    await tab.close();
  });
});
