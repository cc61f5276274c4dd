import { first } from '../../src/lib/db.ts';
import { screenshot, WIDTHS } from './browser.ts';
import { inspectScreen, usePortal } from './portal.ts';

const sorted = (parameters: URLSearchParams): string => [...parameters].map(String).toSorted().join();

describe('finding and ordering', () => {
  const portal = usePortal({ payments: 12 });

  test('the search finds screens, a transaction by order number and by id, and an event, by keyboard alone', async () => {
    const tab = await portal.open('/test/balance', { role: 'owner' });
    const { page, problems, close } = tab;
    const option = (text: string) => `dialog [role=option]:has-text("${text}")`;
    await page.keyboard.press('/');
    await page.waitForSelector('dialog input:focus');
    await page.keyboard.type('withdr');
    await page.waitForSelector(`${option('Withdrawals')}[aria-selected=true]`);
    expect(await inspectScreen(tab, 'portal-find-screen')).toEqual([]);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/test/withdrawals');
    await page.waitForSelector('dialog', { state: 'detached' });
    await page.waitForSelector('h1:focus:text-is("Withdrawals")');

    await page.keyboard.press('Control+k');
    await page.keyboard.type('order-1');
    await page.waitForSelector(option('ORDER-11'));
    expect(await page.locator('dialog [role=status]').innerText()).toBe('3 results');
    await page.keyboard.press('ArrowDown');
    const chosen = await page.locator('dialog [aria-selected=true]').innerText();
    expect(await page.getAttribute('dialog input', 'aria-activedescendant')).toBe(
      await page.getAttribute('dialog [aria-selected=true]', 'id'),
    );
    await page.keyboard.press('Enter');
    await page.waitForSelector(`h1:focus:has-text("Transaction ${chosen.split('\n')[0]}")`);

    const event = await first<{ id: string; resourceId: string }>(
      portal.db,
      'SELECT id, resource_id FROM webhook_event',
    );
    await page.keyboard.press('/');
    await page.keyboard.type(event?.id ?? '');
    await page.waitForSelector(option(event?.resourceId ?? ''));
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/test/events?open=${event?.id}`);
    await page.waitForSelector('dialog pre');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });

    const field = page.getByRole('searchbox', { name: 'Order number, or id' });
    await field.fill('ORDER-1');
    await field.press('Enter');
    await page.waitForURL('**/test/events?checkoutOrderNo=ORDER-1');
    await page.waitForSelector('tbody >> text=payment.created');
    await field.fill(event?.resourceId ?? '');
    await field.press('Enter');
    await page.waitForURL(`**/test/events?resourceId=${event?.resourceId}`);
    await page.waitForSelector(`tbody >> text=${event?.resourceId}`);

    // The field keeps the focus, and "/" is a letter in it.
    await page.keyboard.press('Control+k');
    await page.keyboard.type('nothing of this name');
    await page.waitForSelector('dialog >> text=Nothing was found');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    expect(problems).toEqual([]);
    await close();
  }, 60_000);

  test('the help has the keys, and the way to the description of the API', async () => {
    const { page, problems, close } = await portal.open('/test/balance', { role: 'owner' });
    await page.keyboard.press('?');
    const docs = await page.getByRole('link', { name: 'Documentation of the API' }).getAttribute('href');
    expect(docs).toMatch(/^http:[/][/][^/]+[/]docs$/);
    await page.waitForSelector('dialog >> text=Search everything');
    expect(problems).toEqual([]);
    await close();
  });

  test('what is typed right after the key of the search reaches its field, also on a slow machine', async () => {
    const { page, problems, close } = await portal.open('/test/transactions', { role: 'owner' });
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Emulation.setCPUThrottlingRate', { rate: 20 });
    await page.keyboard.press('/');
    // Alone, n opens a new payment.
    await page.keyboard.type('number 7');
    expect(await page.inputValue('dialog input[role=combobox]')).toBe('number 7');
    expect(problems).toEqual([]);
    await close();
  });

  test('the search on a page in Amharic is in Amharic', async () => {
    const tab = await portal.open('/test/transactions', { language: 'am' });
    await tab.page.keyboard.press('/');
    await tab.page.waitForSelector('dialog input:focus');
    expect(await inspectScreen(tab, 'portal-find-am')).toEqual([]);
    await tab.close();
  });

  test('a search of a list keeps the focus, and its field shows what the address says', async () => {
    const { page, problems, close } = await portal.open('/test/transactions', { viewport: WIDTHS[1] });
    const field = page.getByRole('searchbox');
    await field.fill('ORDER-1');
    await page.keyboard.press('Enter');
    await page.waitForURL('**search=ORDER-1');
    await page.waitForSelector('tbody tr:has-text("ORDER-10")');
    await page.waitForSelector('input[type=search]:focus');
    await page.goBack();
    await page.waitForFunction(`document.querySelector('input[type=search]').value === ''`);
    expect(problems).toEqual([]);
    await close();
  });

  test('the list is ordered by the column that is pressed, from the largest, and then from the smallest', async () => {
    const { page, problems, close } = await portal.open('/test/transactions', { viewport: WIDTHS[1] });
    const amounts = async (): Promise<number[]> =>
      (await page.locator('tbody tr td:nth-child(2)').allInnerTexts()).map((text) => Number(text.replaceAll(',', '')));
    await page.click('th button:has-text("Amount")');
    await page.waitForSelector('th[aria-sort=descending]:has-text("Amount")');
    await page.waitForURL('**/transactions?sort=-amount');
    await page.waitForSelector('tbody tr:first-child td:nth-child(2):text-is("502.00")');
    expect(await amounts()).toEqual((await amounts()).toSorted((a, b) => b - a));
    await page.click('th button:has-text("Amount")');
    await page.waitForSelector('th[aria-sort=ascending]:has-text("Amount")');
    await page.waitForSelector('tbody tr:first-child td:nth-child(2):text-is("100.00")');
    expect(await amounts()).toEqual((await amounts()).toSorted((a, b) => a - b));
    expect(problems).toEqual([]);
    await close();
  });

  test('a person who has chosen the Ethiopian clock reads times that count from six', async () => {
    const { page, problems, close } = await portal.open('/test/profile', { role: 'viewer' });
    await page.click('label:has-text("Ethiopian: 8:30 day")');
    await Promise.all([page.waitForEvent('load'), page.click('button:has-text("Save")')]);
    await page.goto(`${portal.url}/test/transactions`);
    const time = page.locator('tbody tr time').last();
    await time.waitFor();
    const hourInAddis = (new Date((await time.getAttribute('datetime')) ?? '').getUTCHours() + 3) % 24;
    const part = hourInAddis >= 6 && hourInAddis < 18 ? 'day' : 'night';
    expect(await time.innerText()).toMatch(new RegExp(`, ${(hourInAddis + 6) % 12 || 12}:\\d\\d ${part}$`));
    expect(problems).toEqual([]);
    await close();
  });

  test('a filter is saved under a name, shared, and opened by another person; built-in views need nothing', async () => {
    const tab = await portal.open('/test/transactions?status=SUCCESS&sort=-amount', { role: 'owner' });
    await tab.page.click('button:has-text("Views")');
    await tab.page.fill('[role=dialog] input:not([type=checkbox])', 'Largest paid');
    await tab.page.click('[role=dialog] label:has-text("Share with everybody")');
    await tab.page.click('[role=dialog] button:has-text("Save")');
    await tab.page.waitForSelector('[role=dialog] li:has-text("Largest paid")');
    await screenshot(tab.page, 'portal-views');
    expect(tab.problems).toEqual([]);
    await tab.close();
    const { page, problems, close } = await portal.open('/test/transactions?search=ORDER', {
      role: 'support',
    });
    await page.click('button:has-text("Views")');
    await page.waitForSelector('[role=dialog] li:has-text("by The owner")');
    await page.click('[role=dialog] button:has-text("Largest paid")');
    await page.waitForURL(({ search }) => search.includes('status=SUCCESS') && !search.includes('search='));
    for (const [name, query] of [
      ['Today', 'range=today'],
      ['Failed this week', 'range=week&status=FAILED'],
      ['Pending over 1 h', 'range=90d&status=PENDING&minAgeMinutes=60&sort=createdAt'],
      ['Held', 'range=90d&held=true'],
    ] as const) {
      await page.click('button:has-text("Views")');
      await page.click(`[role=dialog] button:text-is("${name}")`);
      await page.waitForURL(({ searchParams }) => sorted(searchParams) === sorted(new URLSearchParams(query)));
    }
    expect(problems).toEqual([]);
    await close();
  }, 60_000);
});
