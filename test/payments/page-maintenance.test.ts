import { rows } from '../../src/lib/db.ts';
import { PAY_FORM, startPages, type StartedPages } from './pages.ts';

let pages: StartedPages;

beforeAll(async () => {
  pages = await startPages();
});
afterAll(() => pages.close());

test('the checkout page lists a channel under maintenance with the time until its end, and takes no payment on it', async () => {
  await rows(
    pages.db,
    `INSERT INTO channel_maintenance (id, channel, environment, starts_at, ends_at, reason, created_by)
     VALUES ('mnt_1', 'TELEBIRR', 'sandbox', now(), now() + interval '47 hours', 'Switch', 'opr_1')`,
  );
  const page = await pages.open();

  const text = await page.text();
  expect(text).toMatch(/value="TELEBIRR" disabled/);
  expect(text).toContain('(under maintenance, back in 47 h)');
  expect(text).toMatch(/value="CBE_BIRR" required checked/);
  expect(await page.text({ cookie: `${page.cookie}; meskot_language=am` })).toContain('(ጥገና ላይ ነው፤ በ47 ሰዓት ውስጥ ይመለሳል)');
  const paid = await page.post('pay', PAY_FORM);
  expect([paid.status, Number(paid.headers.get('retry-after')) > 0]).toEqual([403, true]);
  expect(await paid.text()).toContain('This way of paying is not available now.');

  await rows(
    pages.db,
    `INSERT INTO channel_maintenance (id, channel, environment, starts_at, ends_at, reason, created_by)
     SELECT 'mnt_' || channel, channel, 'sandbox', now(), now() + interval '1 hour', 'Switch', 'opr_1'
     FROM unnest(ARRAY['CBE_BIRR', 'AWASH']) AS channel`,
  );
  const none = await page.text();
  expect(none).toContain('No way of paying is available just now.');
  expect(none).toMatch(/<a class="button" href="[/]checkout[/]cs_\w+">Look again<[/]a>/);

  await rows(pages.db, `UPDATE channel_maintenance SET ends_at = now(), starts_at = now() - interval '1 hour'`);
  expect(await page.text()).toMatch(/value="TELEBIRR" required/);
});
