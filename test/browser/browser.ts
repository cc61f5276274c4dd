import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import axe from 'axe-core';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

/** Starts the one browser of a test file, from the path that jest.config.mjs found. Close it in afterAll. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM'];
  if (executablePath === undefined)
    throw new Error('No Chromium on PATH. Install the package chromium, or set CHROMIUM.');
  return chromium.launch({ executablePath, args: ['--disable-gpu', '--disable-dev-shm-usage'] });
}

/** A tab with a profile of its own, and whatever went wrong in it. */
export type Tab = {
  page: Page;
  /** Errors of scripts and of the console, violations of the content security policy, and requests to other origins. */
  problems: string[];
  close: () => Promise<void>;
};

export type TabOptions = BrowserContextOptions & {
  /** The origins that the pages may request from. */
  origins: readonly string[];
  /** Console messages to ignore: those that a test causes on purpose. */
  expected?: RegExp;
};

/** Addresses that no server gets; Chromium's viewer of PDFs is an extension. */
const OF_THE_BROWSER = ['data:', 'chrome-extension:', 'chrome:'];

export async function openTab(browser: Browser, { origins, expected, ...options }: TabOptions): Promise<Tab> {
  const context = await browser.newContext({ viewport: WIDTHS[0], ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const problems: string[] = [];
  const note = (problem: string): void => void (expected?.test(problem) || problems.push(problem));
  page.on('pageerror', (error) => note(`script: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') note(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (!OF_THE_BROWSER.includes(protocol) && !origins.includes(origin)) note(`request to ${request.url()}`);
  });
  return { page, problems, close: async () => context.close() };
}

/**
 * Goes to another screen of the page that is open, as its links do: much cheaper than to load it anew. Another environment,
 * or the same path with other values, is loaded anew. A path with another id shows the same component, whose heading stays,
 * so this would wait for it in vain: use `goto`.
 */
export async function visit(page: Page, path: string): Promise<void> {
  const [from, to] = [new URL(page.url()), new URL(path, page.url())];
  const environmentOf = ({ pathname }: URL): string | undefined => pathname.split('/')[1];
  if (environmentOf(from) !== environmentOf(to) || from.pathname === to.pathname)
    return void (await page.goto(to.href));
  const left = await page.waitForSelector('main h1');
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`,
  );
  await left.waitForElementState('hidden');
}

/** A telephone and a desk. */
export const WIDTHS = [
  { width: 360, height: 640 },
  { width: 1280, height: 800 },
] as const;

/** In which colours and at which width a page in each language is looked at, unless in all four. */
const COMBINATIONS = (['light', 'dark'] as const).flatMap((colorScheme, scheme) =>
  WIDTHS.map((viewport, index) => ({ colorScheme, viewport, language: scheme === index ? ['en', 'am'][index] : null })),
);

/**
 * Looks at the loaded page, one in English in light and narrow, one in Amharic in dark and wide: what axe finds, and whether
 * it must be scrolled sideways. With BROWSER_MATRIX=full in all four combinations. With SCREENSHOTS=folder it also keeps
 * a picture of each. Dark pages differ from light ones in their colours alone, so there axe has only its rules about colours.
 */
export async function inspect(page: Page, name: string): Promise<string[]> {
  const found: string[] = [];
  const own = await page.evaluate<string>('document.documentElement.lang');
  const isFull = process.env['BROWSER_MATRIX'] === 'full';
  for (const { colorScheme, viewport } of COMBINATIONS.filter(({ language }) => isFull || language === own)) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    const where = `${name}, ${colorScheme}, ${viewport.width} px`;
    if (await scrollsSideways(page)) found.push(`${where}: scrolls sideways`);
    const runOnly = isFull && colorScheme === 'dark' ? COLOUR_RULES : AXE_TAGS;
    for (const violation of await axeViolations(page, runOnly)) found.push(`${where}: ${violation}`);
    await screenshot(page, `${name}-${colorScheme}-${viewport.width}`);
  }
  return found;
}

/** With SCREENSHOTS=folder, keeps a picture of the page there. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS'];
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name.replaceAll(/[^\w-]+/g, '-')}.png`), fullPage: true });
}

export async function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
}

const AXE_TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** What axe finds, one line for each rule: by default WCAG 2.2 A and AA, and best practices. */
export async function axeViolations(page: Page, runOnly = AXE_TAGS): Promise<string[]> {
  if (!(await page.evaluate('typeof axe === "object"'))) await page.evaluate(axe.source);
  const options = { runOnly, resultTypes: ['violations'] };
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
  return violations.map(
    ({ id, nodes }) =>
      `${id} at ${nodes.map(({ html, failureSummary = '' }) => `${html} ${failureSummary}`).join('; ')}`,
  );
}
