import { inspectScreen, usePortal } from './portal.ts';

const portal = usePortal({ payments: 4 });

const LISTS = [
  'transactions',
  'refunds',
  'withdrawals',
  'settlements',
  'balance',
  'events',
  'requests',
  'audit',
  'overview',
];

test('every list says which days it can show, and has a button for them, where its address asks for more', async () => {
  const tab = await portal.open('/test/transactions', { role: 'owner' });
  const { page, problems, close } = tab;
  for (const list of LISTS) {
    await page.goto(`${portal.url}/test/${list}?startDate=2026-01-01&endDate=2026-12-31&page=3`);
    await page.getByText('At most 94 days can be shown at a time.').waitFor();
    expect([list, await page.getByRole('alert').count()]).toEqual([list, 0]);
    await page.getByRole('button', { name: /^Show 29 Sept? 2026 – 31 Dec 2026$/ }).click();
    await page.waitForURL(`${portal.url}/test/${list}?startDate=2026-09-29&endDate=2026-12-31`);
    await page.getByText('At most 94 days').waitFor({ state: 'detached' });
  }
  await page.goto(`${portal.url}/test/withdrawals?startDate=2026-12-31&endDate=2026-12-01&status=SUCCESS`);
  await page.getByText('The first day is after the last one.').waitFor();
  await page.getByRole('button', { name: 'Show 1 Dec 2026 – 31 Dec 2026' }).click();
  await page.getByText('Nothing matches these filters.').waitFor();
  expect(new URL(page.url()).search).toBe('?startDate=2026-12-01&endDate=2026-12-31&status=SUCCESS');
  // Without a filter none is named as the reason.
  await page.getByRole('main').getByRole('button', { name: 'Clear filters' }).first().click();
  await page.getByText('No withdrawals in the last 30 days.').waitFor();
  await page.goto(`${portal.url}/test/settlements`);
  await page.getByText('No settlements in the last 30 days.').waitFor();
  // These days are not asked for: the API would reject them at each interval.
  expect(problems).toEqual([]);
  await close();
}, 120_000);

test('on a page in Amharic too, without a fault of accessibility', async () => {
  const tab = await portal.open('/test/transactions?startDate=2026-01-01&endDate=2026-12-31', { language: 'am' });
  await tab.page.getByText('በአንድ ጊዜ ሊታዩ የሚችሉት ቢበዛ 94 ቀናት ናቸው።').waitFor();
  expect(await inspectScreen(tab, 'days-too-wide-am')).toEqual([]);
  await tab.close();
}, 60_000);

test('a value of the address that a filter does not have is left out, and the others of its filter count', async () => {
  const { page, problems, close } = await portal.open('/test/transactions?status=NOPE,PENDING&type=NOPE');
  await page.locator('tbody tr').first().waitFor();
  expect(await page.locator('tbody tr').count()).toBe(1);
  for (const query of ['status=NOPE', 'sort=NOPE', 'minAmount=NOPE&maxAmount=0']) {
    await page.goto(`${portal.url}/test/transactions?${query}`);
    await page.locator('tbody tr').nth(3).waitFor();
  }
  await page.goto(`${portal.url}/test/reports?status=NOPE&channel=NOPE`);
  await page.locator('tbody tr:has-text("Success")').first().waitFor();
  expect(problems).toEqual([]);
  await close();
});

test('a row in the address that does not exist is named, and said not to be here', async () => {
  const id = 'txn_01M8H161SAE06V9P9CRTSPGM9X';
  const { page, problems, close } = await portal.open(`/test/transactions?open=${id}`, { expected: /status of 404/ });
  await page.waitForSelector(`dialog h2:text-is("${id}")`);
  await page.getByText('This was not found here.').waitFor();
  expect(problems).toEqual([]);
  await close();
});
