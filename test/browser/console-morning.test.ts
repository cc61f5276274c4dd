import type { Page } from 'playwright-core';

import { first } from '../../src/lib/db.ts';
import { until } from '../support/until.ts';
import { FAILED_ORDER, useConsole } from './console.ts';
import { inspectScreen } from './portal.ts';

const FOCUSED = '(document.activeElement.ariaLabel ?? document.activeElement.innerText ?? "").trim()';

/** Presses Tab until what has the focus is called this. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let count = 0; count < 40; count += 1) {
    if ((await page.evaluate<string>(FOCUSED)) === name) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${name}`);
}

const untilFocused = async (page: Page, name: string): Promise<unknown> =>
  until(`the focus at ${name}`, async () => (await page.evaluate<string>(FOCUSED)) === name);

describe("an operator's morning by keyboard alone", () => {
  const console = useConsole();

  test('a settlement is approved, sent and credited, from one item of the queue to the next', async () => {
    const tab = await console.open('/test/queue', { role: 'finance' });
    const { page, problems, close } = tab;
    const { keyboard } = page;
    await page.waitForSelector('tbody tr:has-text("Settlement to approve")');
    const rows = await page.locator('tbody tr').allInnerTexts();
    const place = rows.findIndex((row) => row.includes('Settlement to approve'));
    for (let count = 0; count <= place; count += 1) await keyboard.press('j');
    await keyboard.press('Enter');
    await untilFocused(page, 'Settlement to approve: Abyssinia Coffee');
    await page.waitForSelector('dialog button:text-is("Approve")');
    await tabTo(page, 'Approve');
    await keyboard.press('Enter');
    await page.waitForSelector('dialog dialog :text-is("Approve: 50.00 ETB, Abyssinia Coffee")');
    // What a window was opened by has the focus again after Esc.
    await keyboard.press('Escape');
    await page.waitForSelector('dialog dialog', { state: 'detached' });
    await untilFocused(page, 'Approve');
    await keyboard.press('Enter');
    await page.waitForSelector('dialog dialog');
    await keyboard.type('As agreed');
    await keyboard.press('Enter');
    const next = 'Next: Settlement to send, Abyssinia Coffee';
    await untilFocused(page, next);
    expect(await inspectScreen(tab, 'console-queue-next')).toEqual([]);
    await keyboard.press('Enter');
    await page.waitForSelector('dialog button:text-is("Mark as sent")');
    await tabTo(page, 'Mark as sent');
    await keyboard.press('Enter');
    await page.waitForSelector('dialog dialog');
    await keyboard.type('FT-1001');
    await keyboard.press('Enter');
    await page.waitForSelector('dialog >> text=/Nothing else waits here|It was decided/');
    await keyboard.press('Escape');

    await page.goto(`${console.consoleUrl}/test/settlements`);
    await page.waitForSelector('tbody tr:has-text("Sent to the bank")');
    await keyboard.press('j');
    await keyboard.press('Enter');
    await page.waitForSelector('dialog button:text-is("Mark as credited")');
    await tabTo(page, 'Mark as credited');
    await keyboard.press('Enter');
    await page.waitForSelector('dialog dialog');
    await keyboard.type('FT-1001');
    await keyboard.press('Tab');
    await keyboard.type(
      new Date().toLocaleDateString('en-US', {
        month: '2-digit',
        day: '2-digit',
        year: 'numeric',
        timeZone: 'Africa/Addis_Ababa',
      }),
    );
    await keyboard.press('Enter');
    await page.waitForSelector('dialog >> text=Credited >> nth=0');
    // The button has gone: the focus stays in the panel.
    await untilFocused(page, 'Settlement: 50.00 ETB, Abyssinia Coffee');
    const { status } = (await first<{ status: string }>(console.db, 'SELECT status FROM settlement')) ?? {};
    expect(status).toBe('COMPLETED');
    expect(problems).toEqual([]);
    await close();
  });

  test('a failed delivery is found by its order number and resent', async () => {
    const { page, problems, close } = await console.open('/test/overview');
    const { keyboard } = page;
    await page.waitForSelector('text=Needs an operator');
    await keyboard.press('/');
    await keyboard.type(FAILED_ORDER);
    await keyboard.press('Enter');
    await page.waitForSelector('main button:text-is("Resend")');
    const name = await page.locator('main button:text-is("Resend")').first().getAttribute('aria-label');
    await tabTo(page, name ?? '');
    await keyboard.press('Enter');
    await page.waitForSelector('dialog');
    await keyboard.type('Their server is back');
    await keyboard.press('Enter');
    await page.waitForSelector('text=Resent: the new attempt appears in the log.');
    expect(problems).toEqual([]);
    await close();
  });

  test('a merchant is onboarded: created, opened, and its owner invited', async () => {
    const { page, problems, close } = await console.open('/test/merchants', { role: 'admin' });
    const { keyboard } = page;
    await page.waitForSelector('tbody tr');
    await tabTo(page, 'New merchant');
    await keyboard.press('Enter');
    await page.waitForSelector('dialog');
    await keyboard.type('Harar Roasters');
    await keyboard.press('Enter');
    await page.waitForSelector('h1:text-is("Merchant: Harar Roasters")');
    // On a narrow screen the sections of a merchant are closed at first.
    await page.waitForSelector('main summary:has-text("Users of the portal")');
    await tabTo(page, 'Users of the portal');
    await keyboard.press('Enter');
    await page.waitForSelector('main button:text-is("Invite an owner")');
    await tabTo(page, 'Invite an owner');
    await keyboard.press('Enter');
    await page.waitForSelector('dialog');
    await keyboard.type('owner@harar.example.et');
    await keyboard.press('Tab');
    await keyboard.type('Contract 2026-11');
    await keyboard.press('Enter');
    await page.waitForSelector('dialog', { state: 'detached' });
    await tabTo(page, 'Open invitations');
    await keyboard.press('Enter');
    await page.waitForSelector('main tr:has-text("owner@harar.example.et") >> text=Become an owner');
    expect(problems).toEqual([]);
    await close();
  });

  test('a file of the bank that is not chosen cannot be booked, and says so', async () => {
    const { page, problems, close } = await console.open('/test/settlements', { role: 'finance' });
    await page.click(`button:has-text("Bank's file")`);
    await page.waitForSelector('dialog >> text=Choose a file first.');
    expect(problems).toEqual([]);
    await close();
  });
});
