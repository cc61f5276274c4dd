import { buildAttempt, buildSession, PAID } from '../support/build.ts';
import { inspectScreen, usePortal } from './portal.ts';
import { startSending, type Sending } from './sending.ts';

describe('the built-in receiver in the portal', () => {
  let sending: Sending;
  // Before the portal closes: hooks run in their order.
  afterAll(() => sending?.stop());
  const portal = usePortal({ payments: 0 });

  beforeAll(async () => {
    sending = startSending(portal.db);
  }, 180_000);

  test('a merchant without a server switches it on, sees a test event arrive, and makes it fail', async () => {
    const { page, problems, close } = await portal.open('/test/get-started');
    await page.click('button:text-is("Switch on the receiver")');
    await page.waitForSelector('text=Active subscriptions: 1');
    await page.click('main >> text=Open the webhooks');
    await page.waitForSelector('text=Nothing has arrived yet.');
    await page.click('button:has-text("Send test event")');
    await page.waitForSelector('text=Your server answered 200');
    // Sooner than the card is read again by itself.
    await page.waitForSelector('main li >> text=Healthy', { timeout: 8_000 });
    await page.click('main li summary:text-is("Deliveries of the last 14 days")');
    const days = page.locator('main li table[aria-label="Deliveries of the last 14 days"] tbody tr');
    await days.first().waitFor();
    expect(await days.count()).toBe(1);
    const requests = page.locator('ol[aria-label="Received requests"] > li');
    await requests.first().waitFor();
    expect(await requests.first().innerText()).toMatch(/webhook[.]test\s+Signature valid\s+Answered 200/);
    await requests.first().locator('summary').click();
    const [headers = '', body = ''] = await requests.first().locator('pre').allInnerTexts();
    expect(headers).toContain('x-service-signature: sha256=');
    expect(JSON.parse(body)).toMatchObject({ event: 'webhook.test' });

    await page.selectOption('main select', 'error');
    await page.waitForSelector('main select:enabled');
    await page.click('button:has-text("Send test event")');
    await page.waitForSelector('text=Answered 500');
    expect(await requests.count()).toBe(2);
    expect(problems).toEqual([]);
    await close();
  });

  test('the timeline of a payment names the event of each attempt, and where it was sent', async () => {
    const { fixture, scope } = portal;
    const { sessionId, transactionId } = await buildSession(fixture, scope, { checkoutOrderNo: 'ORDER-SENT' });
    const attemptId = await buildAttempt(fixture, { ...scope, sessionId });
    fixture.provider.returns(PAID);
    await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
    const { page, problems, close } = await portal.open(`/test/transactions/${transactionId}`);
    await page.getByText(/^payment[.]succeeded · \S+[/]\S+ · 500 after/).waitFor();
    await page.getByText(/^checkout[.]completed · \S+[/]\S+ · 500 after/).waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  test('live has none, and a person who may not change subscriptions reads whom to ask', async () => {
    const viewer = await portal.open('/test/webhooks', { role: 'viewer' });
    await viewer.page.waitForSelector('main >> text=Received requests');
    expect(await viewer.page.locator('main select').isDisabled()).toBe(true);
    expect(await viewer.page.locator('main').innerText()).toContain(
      'Ask somebody with the role owner, admin or developer',
    );
    const live = await portal.open('/live/webhooks', { expected: /403/ });
    await live.page.waitForSelector('main h1');
    expect(await live.page.locator('main').innerText()).not.toContain('Built-in receiver');
    await Promise.all([viewer.close(), live.close()]);
  });

  test.each(['en', 'am'] as const)('it has no fault of accessibility, in %s', async (language) => {
    const tab = await portal.open('/test/webhooks', { language });
    await tab.page.locator('ol summary').first().click();
    const found = await inspectScreen(tab, `portal-receiver-${language}`);
    expect(found).toEqual([]);
    await tab.close();
  });
});
