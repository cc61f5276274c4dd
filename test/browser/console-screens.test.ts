import { addisDay, DAY_MS } from '../../src/lib/dates.ts';
import { rows, type Database } from '../../src/lib/db.ts';
import { buildAttempt, buildSession, PAID } from '../support/build.ts';
import { withdraw } from '../support/settlements.ts';
import { visit, WIDTHS } from './browser.ts';
import { buildUnknownRefund, FAILED_ORDER, useConsole } from './console.ts';
import { inspectScreen } from './portal.ts';

/** Codes of the API in sight where words belong: outside of code, and of what is marked as English. */
const READ_CODES = `(() => {
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode;
    if (parentElement.checkVisibility() && !parentElement.closest('code, pre, [lang=en]')) {
      found.push(...(data.match(/\\b(?:[A-Z]{3,}_[A-Z_]+|TELEBIRR|AWASH|MPESA|PENDING|SUCCEEDED|FAILED)\\b/g) ?? []));
    }
  }
  return found;
})()`;

/** Yesterday as compared on each channel, with an order that only one provider lists. */
async function buildDiscrepancy(db: Database): Promise<void> {
  const day = addisDay(new Date(Date.now() - DAY_MS));
  await rows(
    db,
    `INSERT INTO reconciliation (id, environment, channel, day, status, is_running, requested_at, compared_at)
     SELECT channel, 'sandbox', channel, :day, CASE channel WHEN 'AWASH' THEN 'DISCREPANCIES' ELSE 'CLEAN' END, false, now(), now()
     FROM unnest('{TELEBIRR,CBE_BIRR,AWASH}'::text[]) channel`,
    { day },
  );
  await rows(
    db,
    `INSERT INTO reconciliation_discrepancy (id, reconciliation_id, environment, channel, day, kind, type, order_id, listed_santim,
       listed_currency, detected_at, comparison_no)
     VALUES ('rcd_1', 'AWASH', 'sandbox', 'AWASH', :day, 'UNKNOWN_ORDER', 'payment', 'pat_1', 128000, 'ETB', now(), 1)`,
    { day },
  );
}

describe('every screen of the console', () => {
  const console = useConsole();
  let refundId = '';
  beforeAll(async () => {
    ({ refundId } = await buildUnknownRefund(console, 'R-SCREENS'));
    await buildDiscrepancy(console.db);
  });

  const screens = (): Record<string, string> => {
    const { deliveryId, eventId, scope } = console;
    return {
      overview: '/test/overview',
      queue: '/test/queue',
      'queue-drawer': `/test/queue?open=${encodeURIComponent(`DEAD_LETTER:${deliveryId}`)}`,
      'queue-discrepancy': '/test/queue?open=RECONCILIATION%3Arcd_1',
      stalled: '/test/stalled',
      proposals: '/test/proposals',
      find: `/test/find?q=${FAILED_ORDER}`,
      transactions: '/test/transactions',
      withdrawals: '/test/withdrawals',
      refunds: `/test/refunds?open=${refundId}`,
      refund: `/test/refunds/${refundId}`,
      settlements: '/test/settlements',
      deliveries: '/test/deliveries',
      'delivery-drawer': `/test/deliveries?open=${deliveryId}`,
      delivery: `/test/deliveries/${deliveryId}`,
      event: `/test/events/${eventId}`,
      merchants: '/test/merchants',
      merchant: `/test/merchants/${scope.merchantId}`,
      verification: `/live/kyc/${scope.merchantId}`,
      'bank-account': `/test/bank-accounts/${scope.merchantId}`,
      reconciliation: '/test/reconciliation',
      discrepancies: '/test/discrepancies',
      receipts: '/test/receipts',
      maintenance: '/test/maintenance',
      'merchant-live': `/live/merchants/${scope.merchantId}`,
      holidays: '/test/holidays',
      operators: '/test/operators',
      audit: '/test/audit',
      security: '/test/security',
      keys: '/test/keys',
      profile: '/test/profile',
    };
  };

  test.each(['en', 'am'] as const)(
    'has no fault of accessibility, no error, and words for codes, in %s',
    async (language) => {
      const tab = await console.open('/test/overview', { language, role: 'admin' });
      const found: string[] = [];
      for (const [name, path] of Object.entries(screens())) {
        await visit(tab.page, path);
        found.push(...(await inspectScreen(tab, `console-${name}-${language}`)));
        const codes = await tab.page.evaluate<string[]>(READ_CODES);
        found.push(...codes.map((code) => `console-${name}-${language} has the code ${code}`));
      }
      expect(found).toEqual([]);
      expect(tab.problems).toEqual([]);
      await tab.close();
    },
    480_000,
  );

  test('the discrepancy of a day is in sight on a phone', async () => {
    const { page, close } = await console.open('/test/reconciliation', { viewport: WIDTHS[0] });
    const result = page.locator('main button', { hasText: 'Discrepancies' });
    await result.waitFor();
    expect(await page.getByRole('rowheader').count()).toBeGreaterThan(0);
    const { x = 0, width = 0 } = (await result.boundingBox()) ?? {};
    expect(x + width).toBeLessThan(WIDTHS[0].width);
    await result.click();
    await page.click('dialog a:text-is("1")');
    await page.waitForSelector('tbody tr:has-text("Order that is not ours")');
    await close();
  });

  test('discrepancies are narrowed to a day once it is typed, and one in the address that is none narrows nothing', async () => {
    const { page, problems, close } = await console.open('/test/discrepancies?day=x');
    await page.waitForSelector('tbody tr:has-text("Order that is not ours")');
    await page.locator('main').getByRole('button', { name: 'Day', exact: true }).click();
    const field = page.locator('input[type=date]');
    await field.pressSequentially('01022024');
    expect(await field.inputValue()).toBe('2024-01-02');
    expect(new URL(page.url()).searchParams.get('day')).toBe('x');
    await page.keyboard.press('Enter');
    await page.waitForURL('**day=2024-01-02**');
    await page.waitForSelector('main button:focus:has-text("Day"):has-text("2024")');
    expect(problems).toEqual([]);
    await close();
  });

  test('a withdrawal under review and held money stand in the queue in Amharic, with reasons and order number', async () => {
    const { fixture, scope } = console;
    await withdraw(fixture, scope, 10_14n);
    const { sessionId } = await buildSession(fixture, scope, { checkoutOrderNo: 'ABY-HELD' });
    const attemptId = await buildAttempt(fixture, { ...scope, sessionId });
    fixture.provider.returns({ ...PAID, amountSantim: 80_00n });
    await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
    const { page, close } = await console.open('/test/queue', { language: 'am', viewport: WIDTHS[0] });
    const row = page.locator('tbody tr', { hasText: 'Abebe' });
    await row.waitFor();
    expect(await row.innerText()).toContain('የሚከፈል ወጪ ምርመራ ይጠብቃል');
    expect(await row.innerText()).not.toMatch(/Withdrawal|approvals/);
    await page.waitForSelector('tbody tr:has-text("ABY-HELD፦ የተጠበቀው"):has-text("የደረሰው 80.00 ብር")');
    await close();
  });
});
