import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { rows } from '../../src/lib/db.ts';
import { visit } from './browser.ts';
import { builtPages, inspectScreen, usePortal } from './portal.ts';

/** Compressed with gzip. */
const KILOBYTES_MAX = { firstScript: 200, style: 15, screen: 25, calendar: 35 };

describe('every screen of the portal', () => {
  const portal = usePortal({ payments: 12 });

  const screens = async (): Promise<Record<string, string>> => {
    const [transaction] = await rows<{ id: string }>(
      portal.db,
      'SELECT id FROM transaction WHERE completed_at IS NOT NULL',
    );
    const [event] = await rows<{ id: string }>(portal.db, 'SELECT id FROM webhook_event');
    return {
      transactions: '/test/transactions',
      'transaction-drawer': `/test/transactions?open=${transaction?.id}`,
      transaction: `/test/transactions/${transaction?.id}`,
      'no-transactions': '/test/transactions?search=nothing',
      webhooks: '/test/webhooks',
      events: '/test/events',
      'event-drawer': `/test/events?open=${event?.id}`,
      signature: '/test/events/signature',
    };
  };

  test.each(['en', 'am'] as const)(
    'has no fault of accessibility and no error, in %s',
    async (language) => {
      const tab = await portal.open('/test/transactions', { language });
      const found: string[] = [];
      for (const [name, path] of Object.entries(await screens())) {
        await visit(tab.page, path);
        found.push(...(await inspectScreen(tab, `portal-${name}-${language}`)));
      }
      await tab.page.goto(`${portal.url}/test/nowhere`);
      await tab.page.waitForSelector(`text=${language === 'en' ? 'There is no such page.' : 'እንዲህ ያለ ገጽ የለም።'}`);
      expect(found).toEqual([]);
      expect(tab.problems).toEqual([]);
      await tab.close();
    },
    240_000,
  );

  test('on a telephone the filters of a long list leave room for its rows, and those that are set are in sight', async () => {
    const { page, problems, close } = await portal.open('/test/transactions?type=API');
    await page.locator('tbody tr').first().waitFor();
    const filter = (name: string) => page.locator('main .card').getByRole('button', { name });
    expect([await filter('Type').isVisible(), await filter('Channel').isVisible()]).toEqual([true, false]);
    await filter('More filters').press('Enter');
    await filter('Channel').click();
    await page.getByLabel('telebirr').click();
    await page.keyboard.press('Escape');
    await filter('More filters').click();
    expect([await filter('Channel').isVisible(), await filter('Amount').isVisible()]).toEqual([true, false]);
    // One that is no longer set stays, and has the focus again.
    await filter('Channel').click();
    await page.getByLabel('telebirr').click();
    await page.waitForURL((url) => !url.searchParams.has('transactionThrough'));
    await page.keyboard.press('Escape');
    await page.waitForSelector('main .card button:focus:has-text("Channel")');
    expect(problems).toEqual([]);
    await close();
  });

  test('names its environment in the title and the frame, and never mixes them', async () => {
    const { page, close } = await portal.open('/test/transactions', { expected: /403|401/ });
    expect(await page.title()).toBe('Transaction · TEST · Abyssinia Coffee');
    const called: (string | undefined)[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/api/checkout/')) called.push(request.headers()['x-meskot-environment']);
    });
    await page.click('text=Switch to live');
    await page.waitForSelector('text=Live data: real money.');
    await page.waitForURL('**/live/transactions');
    expect(await page.title()).toBe('Transaction · LIVE · Abyssinia Coffee');
    // Not until the network is idle: a page holds a stream.
    await page.waitForSelector('.skeleton', { state: 'detached' });
    expect(new Set(called)).toEqual(new Set(['live']));
    await close();
  });
});

test.each(['merchant', 'operator'])(
  'the built pages are within their limits of size, of the entry %s',
  async (name) => {
    const folder = await builtPages();
    type Chunk = { file: string; css?: string[]; isEntry?: boolean; isDynamicEntry?: boolean; imports?: string[] };
    const manifest = JSON.parse(await readFile(join(folder, '.vite/manifest.json'), 'utf8')) as Record<string, Chunk>;
    const kilobytes = async (file: string): Promise<number> => (await stat(join(folder, `${file}.gz`))).size / 1_000;
    const first = new Set<string>();
    const styles = new Set<string>();
    const visit = (chunk: Chunk | undefined): void => {
      if (!chunk || first.has(chunk.file)) return;
      first.add(chunk.file);
      for (const file of chunk.css ?? []) styles.add(file);
      for (const key of chunk.imports ?? []) visit(manifest[key]);
    };
    visit(manifest[`${name}/index.html`]);
    // What the small first script imports at once.
    visit(manifest[`${name}/pages.tsx`]);
    const sizes = await Promise.all([...first].map(kilobytes));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(KILOBYTES_MAX.firstScript);
    expect(styles.size).toBe(1);
    for (const file of styles) expect(await kilobytes(file)).toBeLessThan(KILOBYTES_MAX.style);
    for (const [source, { file, isDynamicEntry }] of Object.entries(manifest)) {
      if (isDynamicEntry !== true) continue;
      const max = source.includes('day-range-picker') ? KILOBYTES_MAX.calendar : KILOBYTES_MAX.screen;
      expect({ source, kilobytes: (await kilobytes(file)) < max }).toEqual({ source, kilobytes: true });
    }
  },
  180_000,
);
