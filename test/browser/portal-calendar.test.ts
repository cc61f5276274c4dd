import type { Page } from 'playwright-core';

import { rows } from '../../src/lib/db.ts';
import { usePortal } from './portal.ts';

/** Years and months of the Gregorian calendar, as these pages write them. */
const GREGORIAN = /\b202[5-9]\b|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)[a-z]*\b(?= \d)/;
const SCREENS = [
  'overview',
  'transactions',
  'balance',
  'withdrawals',
  'settlements',
  'reports',
  'reports?period=quarter',
  'webhooks',
  'events',
  'requests',
  'audit',
  'keys',
  'get-started',
  'channels',
  'verification',
  'bank-account',
  'team',
  'security',
  'profile',
];

describe('the Ethiopian calendar', () => {
  const portal = usePortal({ payments: 4 });

  /** The owner's page, with dates in this calendar. */
  async function openWith(calendar: string): Promise<{ page: Page; close: () => Promise<void> }> {
    const tab = await portal.open('/test/profile', { role: 'owner', expected: /404/ });
    await rows(portal.db, `UPDATE user_account SET calendar = :calendar`, { calendar });
    return tab;
  }
  const go = async (page: Page, screen: string): Promise<void> => {
    await page.goto(`${portal.url}/test/${screen}`);
    await page.waitForSelector('main h1');
    await page.waitForSelector('.skeleton', { state: 'detached' });
  };

  test('is the only one on every screen for a person who reads it', async () => {
    const { page, close } = await openWith('ethiopic');
    const found: string[] = [];
    for (const screen of SCREENS) {
      await go(page, screen);
      const lines = (await page.locator('main').innerText()).split('\n');
      found.push(...lines.filter((line) => GREGORIAN.test(line)).map((line) => `${screen}: ${line}`));
    }
    expect(found).toEqual([]);
    await close();
  }, 240_000);

  test('names the month and the fiscal quarter of a report', async () => {
    const { page, close } = await openWith('ethiopic');
    const nameOf = async (query: string): Promise<string> => {
      await go(page, `reports?${query}`);
      return page.locator('main strong').first().innerText();
    };
    expect(await nameOf('date=2026-11-23')).toBe('Hidar 2019');
    expect(await nameOf('date=2026-09-07')).toBe('Nehase 2018');
    expect(await nameOf('period=quarter&date=2026-07-08')).toBe('Quarter 1 of fiscal year 2019');
    expect(await nameOf('period=quarter&date=2026-11-23')).toBe('Quarter 2 of fiscal year 2019');
    expect(await nameOf('period=quarter&date=2026-07-07')).toBe('Quarter 4 of fiscal year 2018');
    expect(await nameOf('calendar=gregorian&period=quarter&date=2026-11-23')).toBe('Quarter 4 of 2026');
    await close();
  });

  test('is that of the picker of days, which has the thirteenth month', async () => {
    const { page, close } = await openWith('ethiopic');
    await go(page, 'transactions');
    await page.click('main button:has-text("Date")');
    await page.click('text=Choose days');
    const select = page.getByLabel('Whole month');
    await select.waitFor();
    const title = await page.locator('table[role=grid]').getAttribute('aria-label');
    expect(title).toMatch(/^Days, \w+ 20\d\d AM$/);
    expect(title).not.toMatch(GREGORIAN);
    const shown = await page.locator('header:has(button[slot=previous]) span').first().innerText();
    expect(shown).toMatch(/^[A-Z][a-z]+ 20\d\d$/);
    expect(await select.locator('option').nth(1).innerText()).toBe(shown);
    const months = (await select.locator('option').allTextContents()).filter((month) => month.startsWith('Pagumen'));
    expect(months).toHaveLength(1);
    await select.selectOption({ label: months[0] ?? '' });
    await page.waitForURL(/startDate=\d{4}-09-\d\d&endDate=\d{4}-09-\d\d/);
    const query = new URL(page.url()).searchParams;
    const days = (Date.parse(query.get('endDate') ?? '') - Date.parse(query.get('startDate') ?? '')) / 86_400_000 + 1;
    expect([5, 6]).toContain(days);
    await close();
  });

  test('is in sight as a whole on a telephone', async () => {
    const { page, close } = await openWith('ethiopic');
    await page.setViewportSize({ width: 360, height: 640 });
    await go(page, 'transactions');
    await page.click('main button:has-text("Date")');
    await page.click('text=Choose days');
    await page.locator('table[role=grid]').waitFor();
    const hidden = await page.evaluate<number>(`(() => {
      const { top, bottom } = document.querySelector('.picker').getBoundingClientRect();
      const popover = document.querySelector('.picker').closest('[data-trigger], [data-placement]');
      return Math.max(0, -top, bottom - innerHeight, popover.scrollHeight - popover.clientHeight);
    })()`);
    expect(hidden).toBe(0);
    await close();
  });
});
