import { join, resolve } from 'node:path';

import type { Browser, Page } from 'playwright-core';

import type { MemberRole } from '../../src/http/people.ts';
import { BANKS } from '../../src/lib/banks.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { buildPortal } from '../../src/local/portal.ts';
import { addPerson, openBrowser, startPortalService, type PortalService } from '../portal/portal.ts';
import { buildAttempt, buildFixture, buildSession, declined, PAID, type Fixture } from '../support/build.ts';
import { startTestSimulator } from '../support/simulator.ts';
import { inspect, launchBrowser, openTab, type Tab, type TabOptions } from './browser.ts';

const PROJECT = resolve(import.meta.dirname, '../..');

/** Builds the pages, unless their sources are unchanged since the last time. Returns their folder. */
export async function builtPages(): Promise<string> {
  const folder = await buildPortal(PROJECT, join(PROJECT, '.data'));
  if (folder === undefined) throw new Error('the pages could not be built');
  return folder;
}

type OpenOptions = Partial<TabOptions> & { language?: 'en' | 'am'; role?: MemberRole };

export type Portal = PortalService & {
  browser: Browser;
  fixture: Fixture;
  scope: MerchantScope;
  /** A tab with a new session of a person, a developer unless given, in this language, at a path of the portal. */
  open: (path: string, options?: OpenOptions) => Promise<Tab & { email: string }>;
};

/** Starts the portal with its pages and a browser, for a merchant with some payments: every fourth not paid, every fifth failed. */
export async function startPortal({ payments = 30 }: { payments?: number } = {}): Promise<Portal> {
  const simulator = await startTestSimulator();
  const pages = { PORTAL_PAGES_DIR: await builtPages() };
  const settings = { ...pages, ALLOW_LOOPBACK_WEBHOOKS: 'true', SIMULATOR_URL: simulator.url };
  const [service, browser] = await Promise.all([startPortalService(settings), launchBrowser()]);
  const { db, url } = service;
  const fixture = buildFixture(db, { clock: () => new Date() });
  const scope = { merchantId: await service.newMerchant('Abyssinia Coffee'), environment: 'sandbox' } as const;
  for (let number = 0; number < payments; number += 1) await buildPayment(fixture, scope, number);
  const emails = new Map<MemberRole, string>();
  const emailOf = async (role: MemberRole): Promise<string> => {
    const email = emails.get(role) ?? (await addPerson(db, scope.merchantId, role));
    emails.set(role, email);
    return email;
  };
  return {
    ...service,
    browser,
    close: async () => {
      await browser.close();
      await service.close();
      await simulator.close();
    },
    fixture,
    scope,
    open: async (path, { language = 'en', role = 'developer', ...options } = {}) => {
      const email = await emailOf(role);
      const session = openBrowser(url);
      await session.signIn(email);
      const cookies = [...session.cookies].map(([name, value]) => ({ name, value, url, httpOnly: true }));
      const tab = await openTab(browser, { origins: [url], ...options });
      const { page } = tab;
      await page.context().addCookies(cookies);
      await page.addInitScript(`localStorage.setItem('meskot.language', '${language}')`);
      await page.goto(url + path);
      await page.waitForSelector('#content');
      return { ...tab, email };
    },
  };
}

/** The portal of the tests of a file, which runs in them and in the hooks that follow. */
export function usePortal(options?: { payments: number }): Portal {
  const portal = {} as Portal;
  beforeAll(async () => void Object.assign(portal, await startPortal(options)), 180_000);
  afterAll(() => portal.close?.());
  return portal;
}

async function buildPayment(fixture: Fixture, scope: MerchantScope, number: number): Promise<void> {
  const amountSantim = BigInt(10_000 + (number % 9) * 5_025);
  const { sessionId } = await buildSession(fixture, scope, { amountSantim, checkoutOrderNo: `ORDER-${number}` });
  if (number % 4 === 0) return;
  const attemptId = await buildAttempt(fixture, { ...scope, sessionId }, { channel: 'TELEBIRR' });
  fixture.provider.returns(number % 5 === 0 ? declined(false) : { ...PAID, amountSantim });
  await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
}

/** What axe finds on a screen, once its rows are there, and what of a page in Amharic is not in Amharic. */
export async function inspectScreen({ page }: Tab, name: string): Promise<string[]> {
  await page.waitForSelector('main h1');
  await page.waitForSelector('.skeleton', { state: 'detached' });
  await page.evaluate('document.fonts.ready');
  const isAmharic = await page.evaluate<boolean>(`document.documentElement.lang === 'am'`);
  const foreign = isAmharic ? await untranslated(page) : [];
  return [...foreign.map((text) => `${name} has "${text}"`), ...(await inspect(page, name))];
}

const LABELS = 'button, h1, h2, th, dt, label, legend, summary, option, nav a, [aria-label], [placeholder]';
/** Names of the contract and of code, and data of the tests. */
const SAME_IN_EVERY_LANGUAGE =
  /^(?:API|QRCODE|DNS|TLS|English|X-Service-Signature|[A-Z]+ \/api\/[\w:/-]+|[A-Z]+-\d+|TELEBIRR|CBE_BIRR|AWASH|[a-z_]+[.][a-z_]+)$/;

const NAMES = new RegExp(
  [
    // The longer ones first: a bank has the name of its channel in its own.
    ...Object.values(BANKS),
    'Abyssinia Coffee(?: PLC)?',
    'The (?:owner|admin|finance|developer|support|viewer)',
    '[\\w ]+[.]pdf',
    'telebirr|CBE Birr|Awash|M-Pesa',
    'CSV|XLSX|PDF',
    'meskot [a-z -]+',
  ].join('|'),
  'g',
);
/** Amharic has a colon and a comma of its own, ፦ and ፣. */
const FOREIGN_COLON = /[\u1200-\u139F]:(?: |$)|: [\u1200-\u139F]/;
const FOREIGN_COMMA = /[\u1200-\u139F],/;
/** Three English words in a row: other names and codes are shorter. */
const SENTENCE = /[A-Za-z]{2,}(?:[,;:]? [A-Za-z]{2,}){2,}/;
/** All that is in sight, but for code and what is marked as English. */
const READ_TEXTS = `(() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode;
    const isRead = parentElement.checkVisibility() && !parentElement.closest('[lang=en], code, pre, script');
    if (isRead) found.push(data);
  }
  return found;
})()`;

/** The labels of an Amharic page that are not in Amharic, and its sentences in English. */
async function untranslated(page: Page): Promise<string[]> {
  const read = `[...document.querySelectorAll(${JSON.stringify(LABELS)})].map(
    (one) => one.ariaLabel ?? one.placeholder ?? one.innerText ?? '')`;
  const labels = (await page.evaluate<string[]>(read)).map((label) => label.trim());
  const isForeign = (label: string): boolean =>
    FOREIGN_COLON.test(label) ||
    (/[A-Za-z]{2}/.test(label.replaceAll(NAMES, '')) &&
      !/[\u1200-\u139F]/.test(label) &&
      !SAME_IN_EVERY_LANGUAGE.test(label));
  const isSentence = (text: string): boolean => SENTENCE.test(text.replaceAll(NAMES, '')) || FOREIGN_COMMA.test(text);
  const sentences = (await page.evaluate<string[]>(READ_TEXTS)).filter(isSentence);
  return [...new Set([...labels.filter(isForeign), ...sentences])];
}
