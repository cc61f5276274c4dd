// npm run pictures: takes the pictures of docs/pictures/ from the demo data of a running `npm start`.
import { execSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { chromium } from 'playwright-core';

const FOLDER = 'docs/pictures';
const KILOBYTES_MAX = 1_500;
const DESK = { width: 1280, height: 800 };
const PHONE = { width: 360, height: 720 };
const SETTLE_MS = 1_000;

/** The screens; `press` is pressed first. Together they have every language, width, colour scheme and calendar. */
const PICTURES = [
  { name: 'overview', path: '/test/overview' },
  { name: 'transactions', path: '/test/transactions' },
  { name: 'transaction-dark', path: '/test/transactions?status=SUCCESS', scheme: 'dark', press: ['tbody a'] },
  { name: 'transactions-phone-am', path: '/test/transactions', language: 'am', viewport: PHONE },
  { name: 'balance-am', path: '/test/balance', language: 'am', calendar: 'both' },
  { name: 'settlements-phone-dark-am', path: '/test/settlements', language: 'am', viewport: PHONE, scheme: 'dark' },
  {
    name: 'reports-dark-am',
    path: '/test/reports?period=quarter',
    language: 'am',
    calendar: 'ethiopic',
    scheme: 'dark',
  },
  {
    name: 'calendar',
    path: '/test/transactions',
    calendar: 'ethiopic',
    press: ['main button:has-text("Date")', 'button:has-text("Choose days")'],
  },
  { name: 'event-dark', path: '/test/events?status=FAILED', scheme: 'dark', press: ['tbody a'] },
  { name: 'get-started-phone', path: '/test/get-started', viewport: PHONE },
  { name: 'checkout-phone', viewport: PHONE },
  { name: 'console-queue', isConsole: true, path: '/test/queue', press: ['tbody a:has-text("Withdrawal to review")'] },
];

const state = join(process.env.MESKOT_DATA_DIR ?? '.data', 'state.json');
const { portalUrl, consoleUrl, portalPassword, checkoutUrl } = JSON.parse(readFileSync(state, 'utf8')).info;

/** A page of the demo merchant's owner, who reads dates in this calendar, or of a demo operator. */
async function openSignedIn(browser, { site, language, calendar, viewport, scheme }) {
  const isConsole = site === consoleUrl;
  const context = await browser.newContext({ viewport, colorScheme: scheme });
  const page = await context.newPage();
  await page.addInitScript(`localStorage.setItem('meskot.language', '${language}')`);
  await page.goto(`${site}/sign-in?next=/test/transactions`);
  await page.fill('[name=email]', isConsole ? 'operator@demo.invalid' : 'owner@abyssinia.example');
  await page.fill('[name=password]', portalPassword);
  await page.press('[name=password]', 'Enter');
  if (isConsole) {
    await page.fill('[name=code]', execSync('npm run -s cli -- demo code', { encoding: 'utf8' }).trim());
    await page.press('[name=code]', 'Enter');
  }
  await page.waitForSelector('main h1');
  const headers = { 'content-type': 'application/json', 'x-meskot-environment': 'sandbox' };
  const init = { method: 'PATCH', headers, body: JSON.stringify({ calendar }) };
  await page.evaluate(`fetch('/api/portal/profile', ${JSON.stringify(init)})`);
  return page;
}

async function take(browser, picture) {
  const {
    name,
    path,
    isConsole = false,
    press = [],
    language = 'en',
    calendar = 'gregorian',
    viewport = DESK,
    scheme = 'light',
  } = picture;
  const site = isConsole ? consoleUrl : portalUrl;
  const options = { site, language, calendar, viewport, scheme };
  const page = path
    ? await openSignedIn(browser, options)
    : await (await browser.newContext({ viewport, locale: language, colorScheme: scheme })).newPage();
  await page.goto(path ? site + path : checkoutUrl);
  await page.waitForSelector('h1');
  for (const pressed of press) await page.locator(pressed).first().click();
  await page.waitForTimeout(SETTLE_MS);
  const file = join(FOLDER, `${name}.png`);
  await page.screenshot({ path: file });
  await page.context().close();
  return statSync(file).size / 1_000;
}

mkdirSync(FOLDER, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium' });
let kilobytes = 0;
for (const picture of PICTURES) kilobytes += await take(browser, picture);
await browser.close();
process.stdout.write(`${PICTURES.length} pictures of ${Math.round(kilobytes)} kB in ${FOLDER}\n`);
if (kilobytes > KILOBYTES_MAX) throw new Error(`The pictures must have at most ${KILOBYTES_MAX} kB together.`);
