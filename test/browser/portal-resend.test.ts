import type { Page } from 'playwright-core';

import { first } from '../../src/lib/db.ts';
import { until } from '../support/until.ts';
import { inspectScreen, usePortal } from './portal.ts';
import { startSending, type Sending } from './sending.ts';

const SUBSCRIPTIONS = '/api/checkout/webhooks/subscriptions';
const FAILED = 3;

/** Calls the API as the person of the page. */
async function call(page: Page, endpoint: string, body: object): Promise<{ data: { subscriptionId: string } }> {
  const [method, path] = endpoint.split(' ');
  const headers = { 'content-type': 'application/json', 'x-meskot-environment': 'sandbox' };
  const init = JSON.stringify({ method, headers, body: JSON.stringify(body) });
  return page.evaluate(`fetch(${JSON.stringify(path)}, ${init}).then((response) => response.json())`);
}

describe('the bulk resend of the portal', () => {
  let sending: Sending;
  // Before the portal closes: hooks run in their order.
  afterAll(() => sending?.stop());
  const portal = usePortal({ payments: 0 });
  let subscription: string;

  beforeAll(async () => {
    sending = startSending(portal.db, []);
    const { page, close } = await portal.open('/test/events');
    const { data } = await call(page, `POST ${SUBSCRIPTIONS}`, { sandboxReceiver: 'error', eventTypes: ['*'] });
    subscription = `${SUBSCRIPTIONS}/${data.subscriptionId}`;
    for (let sent = 0; sent < FAILED; sent += 1) await call(page, `POST ${subscription}/test`, {});
    await until('all deliveries failed', async () => {
      const found = await first<{ count: number }>(
        portal.db,
        `SELECT CAST(count(*) AS integer) AS count FROM webhook_delivery WHERE status = 'FAILED'`,
      );
      return found?.count === FAILED;
    });
    await close();
  }, 180_000);

  test.each(['en', 'am'] as const)('has no fault of accessibility, in %s', async (language) => {
    const tab = await portal.open('/test/events', { language });
    await tab.page.locator('main header button').first().click();
    await tab.page.waitForSelector('main button:enabled:has-text("3")');
    const found = await inspectScreen(tab, `portal-resend-${language}`);
    expect(found).toEqual([]);
    await tab.close();
  });

  test('deliveries are counted, resent at a rate, cancelled, and resent again to the end', async () => {
    const { page, problems, close } = await portal.open('/test/events', { role: 'support' });
    await page.click('button:text-is("Resend many")');
    await page.waitForSelector('text=3 deliveries match.');
    await page.getByLabel('Skipped').check();
    await page.waitForSelector('text=There is nothing to resend.');
    await page.getByLabel('Failed').check();
    await page.getByLabel('Rate').selectOption('1');
    await page.waitForSelector('text=/Takes about 3 sec/');
    await page.locator('button:has-text("Resend 3 deliveries")').dblclick();
    await page.waitForURL('**/events?job=whj_*');
    await page.waitForSelector('text=0 of 3 sent');
    await sending.tickResends();
    await page.waitForSelector('text=1 of 3 sent');
    await page.reload();
    await page.click('button:text-is("Cancel the resend")');
    await page.waitForSelector('text=Cancelled');
    await page.click('main button:text-is("Close")');
    await page.waitForURL('**/test/events');

    const developer = await portal.open('/test/events');
    await call(developer.page, `PATCH ${subscription}`, { sandboxReceiver: 'ok' });
    await developer.close();
    await page.click('button:text-is("Resend many")');
    await page.click('button:has-text("Resend 3 deliveries")');
    await page.waitForSelector('text=0 of 3 sent');
    for (let tick = 0; tick < 2; tick += 1) {
      await sending.tickResends();
      await page.waitForTimeout(1_000);
    }
    await page.waitForSelector('text=3 delivered');
    await page.waitForSelector('[role=status] >> text=Done');
    await page.waitForSelector('tbody >> text=Failed', { state: 'detached' });
    expect(problems).toEqual([]);
    await close();
  });

  test('a person who may not resend reads whom to ask', async () => {
    const { page, close } = await portal.open('/test/events?event=webhook.test', { role: 'finance' });
    await page.click('button:text-is("Resend many")');
    await page.waitForSelector('text=Ask somebody with the role');
    expect(await page.locator('button:has-text("Resend 0")').isDisabled()).toBe(true);
    const developer = await portal.open('/test/events?event=webhook.test');
    await developer.page.click('button:text-is("Resend many")');
    await developer.page.waitForSelector('text=Clear the filters for one event, order or id first');
    await Promise.all([close(), developer.close()]);
  });
});
