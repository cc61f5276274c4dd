import { addDays, addisDay } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import { failDelivery } from '../support/failed-delivery.ts';
import { screenshot } from './browser.ts';
import { buildFailedDelivery, subscribe } from './console.ts';
import { usePortal } from './portal.ts';

const portal = usePortal({ payments: 12 });

const number = (text: string): number => Number(text.replaceAll(/[^\d.-]/g, ''));

test('the overview is of the days that are chosen, and its bars have an axis in birr that ends above the largest', async () => {
  const { page, problems, close } = await portal.open('/test/overview', { role: 'owner' });
  await page.waitForSelector('svg[aria-label^="Paid per day"]');
  await page.click('main button:has-text("Date")');
  await page.click('button:text-is("Last 7 days")');
  await page.waitForURL('**/overview?range=7d');
  await page.locator('svg rect').nth(7).waitFor({ state: 'detached' });
  expect(await page.locator('svg rect').count()).toBe(7);
  const axis = page.locator('svg[aria-label^="Paid per day"] ~ div, div:has(+ svg[aria-label^="Paid per day"])');
  const [scale = '', days = ''] = await axis.allInnerTexts();
  const amounts = scale.split('\n').map(number);
  await page.click('main summary:text-is("As a table")');
  const paid = (await page.locator('details td:nth-child(2)').allInnerTexts()).map(number);
  expect(amounts).toEqual([amounts[0], (amounts[0] ?? 0) / 2, 0]);
  expect(amounts[0]).toBeGreaterThanOrEqual(Math.max(...paid));
  const listed = await page.locator('details td:first-child').allInnerTexts();
  expect(days.split('\n')).toEqual([listed.at(-1), listed[0]]);
  const today = new Date(Date.now() + 3 * 3_600_000).toISOString().slice(0, 10);
  await page.goto(`${portal.url}/test/overview?startDate=${today}&endDate=${today}`);
  await page.locator('svg rect').waitFor({ state: 'attached' });
  expect(await page.locator('svg rect').count()).toBe(1);
  expect(problems).toEqual([]);
  await close();
}, 60_000);

test('a page that stays open overnight moves on to the days of the new day and week', async () => {
  const { page, problems, close } = await portal.open('/test/overview', { role: 'owner' });
  const today = addisDay(new Date());
  const sunday = addDays(today, -(new Date(today).getUTCDay() || 7));
  await page.clock.install({ time: `${sunday}T23:58:00+03:00` });
  const readFrom = (day: string) =>
    page.waitForRequest((request) => request.url().includes(`/reports/series?startDate=${day}&`));
  await Promise.all([readFrom(addDays(sunday, -6)), page.goto(`${portal.url}/test/overview?range=week`)]);
  await page.waitForSelector('.skeleton', { state: 'detached' });
  await Promise.all([readFrom(addDays(sunday, 1)), page.clock.fastForward('04:00')]);
  expect(problems).toEqual([]);
  await close();
}, 60_000);

test('the calendar offers no days that are too far apart for a list', async () => {
  const { page, problems, close } = await portal.open('/test/overview', { role: 'owner' });
  await page.click('main button:has-text("Date")');
  await page.click('text=Choose days');
  await page.waitForSelector('text=At most 94 days.');
  const cells = page.locator('table[role=grid] td [role=button]:not([data-outside-month])');
  const back = page.locator('button[slot=previous]');
  for (let months = 0; months < 2; months += 1) await back.click();
  await cells.first().click();
  for (let months = 0; months < 5; months += 1) await back.click();
  expect(await cells.first().getAttribute('aria-disabled')).toBe('true');
  await screenshot(page, 'days-too-far-apart');
  for (let months = 0; months < 5; months += 1) await page.click('button[slot=next]');
  await cells.nth(1).click();
  await page.waitForURL(/startDate=\d{4}-\d\d-01&endDate=\d{4}-\d\d-02/);
  expect(problems).toEqual([]);
  await close();
}, 60_000);

test('the number of undelivered events is that of the list that it opens, to however many receivers each was sent', async () => {
  await subscribe(portal, 'one.example.et');
  await subscribe(portal, 'two.example.et');
  await buildFailedDelivery(portal, 'UNDELIVERED');
  const others = await rows<{ id: string }>(portal.db, `SELECT id FROM webhook_delivery WHERE status <> 'FAILED'`);
  for (const { id } of others) await failDelivery(portal.db, id);
  const { page, problems, close } = await portal.open('/test/overview', { role: 'owner' });
  await page.waitForSelector('li:has-text("Undelivered events") >> text="1"');
  await page.click('text=Undelivered events');
  await page.waitForURL('**/test/events?**');
  await page.waitForSelector('tbody tr');
  expect(await page.locator('tbody tr').count()).toBe(1);
  expect(problems).toEqual([]);
  await close();
}, 60_000);
