import { buildAttempt, buildSession, PAID } from '../support/build.ts';
import { requestSettlement } from '../support/settlements.ts';
import { until } from '../support/until.ts';
import { useConsole } from './console.ts';
import { inspectScreen } from './portal.ts';

describe('changes while a page of the console is open', () => {
  const console = useConsole();

  test('a payment appears as "1 new" and the open transaction changes, without a reload or an interval', async () => {
    const tab = await console.open('/test/transactions');
    const { page, problems, close } = tab;
    const firstRow = async (): Promise<string> => page.locator('tbody tr').first().innerText();
    const before = await firstRow();
    const { fixture, scope } = console;
    const amountSantim = 12_300n;
    const { sessionId } = await buildSession(fixture, scope, { amountSantim, checkoutOrderNo: 'LIVE-1' });
    await page.waitForSelector('button:has-text("1 new")');
    expect(await firstRow()).toBe(before);
    expect(await inspectScreen(tab, 'console-live-new')).toEqual([]);
    await page.click('button:has-text("1 new")');
    await page.click('a:text-is("LIVE-1")');
    await page.waitForSelector('dialog >> text=The customer has not chosen a channel.');
    const attemptId = await buildAttempt(fixture, { ...scope, sessionId }, { channel: 'TELEBIRR' });
    fixture.provider.returns({ ...PAID, amountSantim });
    await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
    await page.waitForSelector('dialog >> text=Success');
    await page.waitForSelector('tbody tr:has-text("LIVE-1"):has-text("Success")');
    expect(problems).toEqual([]);
    await close();
  });

  test('a settlement appears in the queue at once', async () => {
    const { page, close } = await console.open('/test/queue?kind=SETTLEMENT_APPROVAL');
    await page.waitForSelector('tbody tr');
    // Less than the interval in which the queue is read anyway.
    page.setDefaultTimeout(5_000);
    await requestSettlement(console.fixture, console.scope, { amount: 1_000n });
    await page.waitForSelector('button:has-text("1 new")');
    await close();
  });

  test('lists whose changes are not in the stream are read in intervals', async () => {
    const routes = { audit: '', merchants: '', holidays: '', operators: '', maintenance: 'channels/' };
    const tabs = [];
    for (const [name, folder] of Object.entries(routes)) {
      const tab = await console.open(`/test/${name}`, { role: 'admin' });
      tabs.push({ ...tab, path: `/api/ops/${folder}${name}` });
    }
    for (const { page, path } of tabs) {
      const isReadAgain = `performance.getEntriesByType('resource').filter(({ name }) => new URL(name).pathname === '${path}').length > 1`;
      await until(`a further read of ${path}`, () => page.evaluate<boolean>(isReadAgain));
    }
    expect(tabs.flatMap(({ problems }) => problems)).toEqual([]);
    await Promise.all(tabs.map(({ close }) => close()));
  }, 60_000);

  test('a page whose stream is cut shows that it is read in intervals, is read, and follows again', async () => {
    const { page, problems, close } = await console.open('/test/transactions', { expected: /ERR_FAILED/ });
    page.setDefaultTimeout(40_000);
    await page.route('**/api/ops/stream?*', (route) => route.abort());
    await page.reload();
    await page.waitForSelector('tbody tr');
    await page.waitForSelector('text=read every 15 s');
    await buildSession(console.fixture, console.scope, { checkoutOrderNo: 'LIVE-2' });
    await page.waitForSelector('button:has-text("1 new")');
    await page.unroute('**/api/ops/stream?*');
    await page.waitForSelector('text=read every 15 s', { state: 'detached' });
    expect(problems).toEqual([]);
    await close();
  }, 120_000);
});
