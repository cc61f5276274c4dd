import { PASSWORD } from '../portal/portal.ts';
import { openTab } from './browser.ts';
import { usePortal } from './portal.ts';

const ROWS_PATH = '/api/checkout/txns/get_all_txns';
const SLOW_NETWORK = { offline: false, latency: 400, downloadThroughput: 100_000, uploadThroughput: 100_000 };
const FIRST_FILES_MAX = 14;
const pathOf = (request: { url: () => string }): string => new URL(request.url()).pathname;

describe('the first sight of the portal', () => {
  const portal = usePortal({ payments: 3 });

  /** A tab without any stored file, and the address of a person. */
  async function openEmptyTab() {
    const { email, page, close } = await portal.open('/test/transactions');
    const cookies = await page.context().cookies();
    await close();
    return { email, cookies, tab: await openTab(portal.browser, { origins: [portal.url] }) };
  }

  test('needs few files, and its rows are read while its scripts are loaded', async () => {
    const { cookies, tab } = await openEmptyTab();
    const { page, problems, close } = tab;
    await page.context().addCookies(cookies);
    const loads: string[] = [];
    page.on('request', (request) => loads.push(pathOf(request)));
    page.on('requestfinished', (request) => loads.push(`${pathOf(request)} finished`));
    // The rows that were read first are those that are shown: further reads have no answer.
    let reads = 0;
    await page.route(`**${ROWS_PATH}*`, async (route) => {
      reads += 1;
      if (reads === 1) await route.continue();
    });
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Network.enable');
    await devtools.send('Network.emulateNetworkConditions', SLOW_NETWORK);
    await page.goto(`${portal.url}/test/transactions`, { waitUntil: 'commit' });
    await page.waitForSelector('tbody tr');
    const beforeLast = loads.slice(
      0,
      loads.findLastIndex((load) => /libraries-.+[.]js finished$/.test(load)),
    );
    expect(beforeLast).toContain(ROWS_PATH);
    expect(beforeLast.filter((load) => /[.](?:js|css)$/.test(load)).length).toBeLessThan(FIRST_FILES_MAX);
    expect(problems).toEqual([]);
    await close();
  });

  test('has its files from the time in which the person signs in', async () => {
    const { email, tab } = await openEmptyTab();
    const { page, problems, close } = tab;
    const loaded: string[] = [];
    page.on('requestfinished', (request) => loaded.push(pathOf(request)));
    await page.goto(`${portal.url}/sign-in`);
    await page.waitForLoadState('networkidle');
    expect(loaded.filter((path) => /libraries-.+[.]js$/.test(path))).toHaveLength(1);
    await page.fill('[name=email]', email);
    await page.fill('[name=password]', PASSWORD);
    await page.press('[name=password]', 'Enter');
    await page.waitForSelector('tbody tr');
    const sizes = `performance.getEntriesByType('resource').filter(({ name }) => /(?:libraries|ui|pages|start)-.+[.](?:js|css)$/.test(name))
      .map(({ transferSize }) => transferSize)`;
    expect(new Set(await page.evaluate<number[]>(sizes))).toEqual(new Set([0]));
    expect(problems).toEqual([]);
    await close();
  });

  test('a window whose file cannot be loaded shows that, with a way to reload the page', async () => {
    const { page, close } = await portal.open('/test/transactions', { role: 'owner', expected: /ERR_FAILED|fetch/ });
    await page.route('**/new-payment-*.js', (route) => route.abort());
    await page.click('button:text-is("New payment")');
    await page.waitForSelector('main >> text=This page has a fault.');
    await page.unroute('**/new-payment-*.js');
    await page.click('main button:text-is("Reload")');
    await page.locator('tbody tr').first().waitFor();
    await page.click('button:text-is("New payment")');
    await page.getByRole('dialog', { name: 'New payment' }).waitFor();
    await close();
  });
});
