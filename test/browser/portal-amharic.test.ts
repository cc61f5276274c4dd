import { rows } from '../../src/lib/db.ts';
import { SANDBOX_REASONS } from '../../src/lib/sandbox-reasons.ts';
import { linkAccount, requestSettlement, withdraw } from '../support/settlements.ts';
import { inspectScreen, usePortal } from './portal.ts';

const portal = usePortal({ payments: 12 });

test('on a page in Amharic, what the API has in English by a known code is in Amharic', async () => {
  const { db, fixture, scope } = portal;
  await linkAccount(fixture, scope);
  const withdrawal = await withdraw(fixture, scope, 100_00n);
  const settlement = await requestSettlement(fixture, scope);
  const skipped = [
    { date: '2026-09-27', reason: 'Meskel, Sunday 27 September 2026', provisional: false },
    { date: '2026-09-28', reason: 'requested after 15:00, Monday 28 September 2026', provisional: false },
  ];
  await rows(db, `UPDATE settlement SET skipped_days = CAST(:skipped AS jsonb) WHERE id = :id`, {
    id: settlement.id,
    skipped: JSON.stringify(skipped),
  });
  const tab = await portal.open(`/test/withdrawals?open=${withdrawal.id}`, { language: 'am', role: 'owner' });
  const { page, problems, close } = tab;
  await page.waitForSelector('dialog >> text=ከመላኩ በፊት እየተመረመረ ነው።');
  const found = [await inspectScreen(tab, 'withdrawal-drawer-am')];
  const failure = {
    code: 'INVALID_PAYEE',
    message: 'No such wallet at the provider.',
    providerCode: 'E1',
    retryable: false,
  };
  await rows(
    db,
    `UPDATE payout SET status = 'FAILED', stage = 'COMPLETED', failure = CAST(:failure AS jsonb), completed_at = now() WHERE id = :id`,
    { id: withdrawal.id, failure: JSON.stringify(failure) },
  );
  await page.reload();
  await page.waitForSelector('dialog >> text=አቅራቢው ይህን ስልክ ወይም ሂሳብ አያውቀውም።');
  found.push(await inspectScreen(tab, 'failed-withdrawal-am'));
  await page.goto(`${portal.url}/test/withdrawals`);
  await page.locator('main header button').last().click();
  await page.fill('dialog input[inputmode=decimal]', '80000');
  await page.waitForSelector('dialog >> text=መጠኑ ከከፍተኛው በላይ ነው።');
  found.push(await inspectScreen(tab, 'withdrawal-problem-am'));
  await page.goto(`${portal.url}/test/settlements?open=${settlement.id}`);
  await page.waitForSelector('dialog >> text=መስቀል');
  found.push(await inspectScreen(tab, 'settlement-drawer-am'));
  expect(found.flat()).toEqual([]);
  expect(problems).toEqual([]);
  await close();
}, 120_000);

test('on a page in Amharic, what is wrong with a field and a reason of the sandbox are in Amharic', async () => {
  const { db, fixture, scope } = portal;
  const { id } = await withdraw(fixture, scope, 120_00n);
  const failure = {
    code: 'REJECTED',
    message: SANDBOX_REASONS.SANDBOX_AMOUNT_REJECTED,
    providerCode: '',
    retryable: false,
  };
  await rows(
    db,
    `UPDATE payout SET status = 'REJECTED', stage = 'COMPLETED', failure = CAST(:failure AS jsonb), completed_at = now() WHERE id = :id`,
    { id, failure: JSON.stringify(failure) },
  );
  const { page, problems, close } = await portal.open(`/test/withdrawals?open=${id}`, {
    language: 'am',
    role: 'owner',
  });
  await page.waitForSelector('dialog >> text=በሙከራ ላይ በ.13 የሚያልቁ መጠኖች ውድቅ ይደረጋሉ።');
  await page.goto(`${portal.url}/test/webhooks`);
  await page.getByRole('button', { name: 'አዲስ ምዝገባ' }).first().click();
  await page.fill('dialog input[type=url]', 'https://intranet/hooks');
  await page.locator('dialog button[type=submit]').click();
  const issue = page.locator('dialog', { hasText: 'ከኢንተርኔት የሚደረስበት አገልጋይ።' });
  await issue.waitFor();
  expect(await issue.locator('[lang=en]').allTextContents()).toEqual([]);
  await page.keyboard.press('Escape');
  await page.goto(`${portal.url}/test/withdrawals`);
  await page.locator('main header button').last().click();
  await page.fill('dialog input[inputmode=decimal]', '100');
  await page.fill('dialog input[type=tel]', '12345');
  await page.locator('dialog input:not([inputmode]):not([type=tel]):not([type=radio])').first().fill('አበበ');
  await page.locator('dialog button[type=submit]').click();
  await page.waitForSelector('dialog >> text=የኢትዮጵያ ሞባይል ቁጥር፦');
  expect(problems.filter((one) => !one.includes('400'))).toEqual([]);
  await close();
}, 120_000);
