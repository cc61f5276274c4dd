import { first, rows } from '../../src/lib/db.ts';
import { addPerson } from '../portal/portal.ts';
import { inspectScreen, usePortal } from './portal.ts';

describe('reports scheduled by mail', () => {
  const portal = usePortal({ payments: 0 });

  test('a person of finance schedules a report for two members, changes it, pauses it, resumes it and deletes it', async () => {
    await addPerson(portal.db, portal.scope.merchantId, 'viewer');
    const { page, problems, close } = await portal.open('/test/reports', { role: 'finance' });
    await page.waitForSelector('text=No report is scheduled.');
    await page.click('button:text-is("New schedule")');
    const dialog = page.locator('dialog');
    // Files of payments are closed to viewers.
    await dialog.getByLabel('The finance').waitFor();
    expect(await dialog.getByLabel('The viewer').count()).toBe(0);
    await dialog.getByLabel('Report of').selectOption('withdrawals');
    await dialog.getByLabel('Period').selectOption('ethiopianMonth');
    await dialog.getByLabel('Format').selectOption('XLSX');
    await dialog.getByLabel('The finance').uncheck();
    await dialog.getByText('Choose at least one person.').waitFor();
    expect(await dialog.locator('button[type=submit]').isDisabled()).toBe(true);
    await dialog.getByLabel('The finance').check();
    await dialog.getByLabel('The viewer').check();
    await dialog.locator('button[type=submit]').dblclick();
    await page.waitForSelector('text=Report scheduled');
    const row = page.locator('table[aria-label="Scheduled by mail"] tbody tr');
    expect(await row.count()).toBe(1);
    await row.getByText('Withdrawals (XLSX)').waitFor();
    await row.getByText('The finance, The viewer').waitFor();
    await row.getByText('06:00').waitFor();
    const sql = 'SELECT period, cardinality(recipients) AS recipients FROM report_schedule';
    expect(await first(portal.db, sql)).toEqual({ period: 'ethiopianMonth', recipients: 2 });

    await row.getByRole('button', { name: 'Change' }).click();
    await dialog.getByText('Change: Withdrawals').waitFor();
    await dialog.getByLabel('Period').selectOption('week');
    await dialog.getByText('The next report is of the present period.').waitFor();
    await dialog.getByLabel('The viewer').uncheck();
    await dialog.locator('button[type=submit]').click();
    await page.waitForSelector('text=Schedule changed');
    expect(await first(portal.db, sql)).toEqual({ period: 'week', recipients: 1 });
    await rows(portal.db, `UPDATE report_schedule SET recipients = '{usr_gone}'`);
    await page.reload();
    await row.getByText('Nobody of the team may read it any more').waitFor();
    await row.getByText('No report', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'Change' }).click();
    await dialog.getByLabel('The finance').check();
    await dialog.locator('button[type=submit]').click();
    await row.getByText('06:00').waitFor();

    await row.getByRole('button', { name: 'Pause' }).click();
    await row.getByText('Paused').waitFor();
    await row.getByRole('button', { name: 'Resume' }).click();
    await row.getByText('06:00').waitFor();
    await row.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.waitForSelector('text=No report is scheduled.');
    expect(await rows(portal.db, sql)).toEqual([]);
    expect(problems).toEqual([]);
    await close();
  }, 60_000);

  test.each(['en', 'am'] as const)(
    'have no fault of accessibility, in %s',
    async (language) => {
      const finance = await portal.open('/test/reports', { role: 'finance', language });
      const { page } = finance;
      const isEnglish = language === 'en';
      await page.getByRole('button', { name: isEnglish ? 'New schedule' : 'አዲስ መርሐ ግብር' }).click();
      await page.getByLabel('The finance').waitFor();
      expect(await inspectScreen(finance, `portal-schedule-form-${language}`)).toEqual([]);
      await page.locator('dialog button[type=submit]').click();
      // The one of the other language is still there.
      const [row, place] = [page.locator('tbody tr', { hasText: 'The finance' }), isEnglish ? 0 : 1];
      await row.nth(place).waitFor();
      expect(await inspectScreen(finance, `portal-schedules-${language}`)).toEqual([]);
      expect(finance.problems).toEqual([]);
      await finance.close();
      const viewer = await portal.open('/test/reports', { role: 'viewer', language });
      const table = viewer.page.locator('table', { has: viewer.page.getByText('The finance') });
      await table.waitFor();
      expect(await table.locator('button').count()).toBe(0);
      await viewer.close();
    },
    90_000,
  );
});
