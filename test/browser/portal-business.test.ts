import type { Page } from 'playwright-core';

import { first, rows } from '../../src/lib/db.ts';
import { confirmTwoFactor } from '../portal/portal.ts';
import { buildAttempt, PAID } from '../support/build.ts';
import { visit, WIDTHS } from './browser.ts';
import { inspectScreen, usePortal } from './portal.ts';

describe('what a merchant sets up', () => {
  const portal = usePortal({ payments: 0 });

  const sandbox = () => ({ merchantId: portal.scope.merchantId, environment: 'sandbox' });
  const setChannel = (channel: string, set: string) =>
    rows(
      portal.db,
      `UPDATE merchant_channel SET ${set} WHERE merchant_id = :merchantId AND environment = :environment AND channel = :channel`,
      { ...sandbox(), channel },
    );
  const isEnabled = async (channel: string) => {
    const sql = `SELECT enabled FROM merchant_channel
                 WHERE merchant_id = :merchantId AND environment = :environment AND channel = :channel`;
    return (await first<{ enabled: boolean }>(portal.db, sql, { ...sandbox(), channel }))?.enabled;
  };
  const card = (page: Page, channel: string) =>
    page.locator('main li.card', { has: page.locator(`h2:text-is("${channel}")`) });

  describe('channels', () => {
    test('an owner switches a channel off and on again, and two clicks at once are one change', async () => {
      const { page, problems, close } = await portal.open('/test/channels', { role: 'owner' });
      const awash = card(page, 'Awash');
      await awash.locator('label').dblclick();
      await awash.locator('text=You have switched it off').waitFor();
      expect(await isEnabled('AWASH')).toBe(false);
      await awash.locator('label').click();
      await awash.locator('text=Customers can pay with it.').waitFor();
      expect(await isEnabled('AWASH')).toBe(true);
      expect(problems).toEqual([]);
      await close();
    });

    test('a switch that cannot be used gives its reason and whom to ask', async () => {
      await setChannel('AWASH', `approval = 'SUSPENDED', enabled = false`);
      const owner = await portal.open('/test/channels', { role: 'owner' });
      const reasons = { 'M-Pesa': 'not available yet', Awash: 'Only the support of Meskot' };
      for (const [channel, reason] of Object.entries(reasons)) {
        const control = card(owner.page, channel).getByRole('switch');
        expect(await control.isDisabled()).toBe(true);
        const described = await control.getAttribute('aria-describedby');
        expect(await owner.page.locator(`[id="${described}"]`).innerText()).toContain(reason);
      }
      const viewer = await portal.open('/test/channels', { role: 'viewer' });
      const control = card(viewer.page, 'telebirr').getByRole('switch');
      expect(await control.isDisabled()).toBe(true);
      expect(await card(viewer.page, 'telebirr').innerText()).toContain('Ask somebody with the role owner or admin.');
      await setChannel('AWASH', `approval = 'APPROVED', enabled = true`);
      await Promise.all([owner.close(), viewer.close()]);
    });

    test('a requested channel waits for the decision, and the request can be withdrawn', async () => {
      await setChannel('AWASH', `approval = 'REQUESTED', enabled = false`);
      const { page, close } = await portal.open('/test/channels', { role: 'owner' });
      const awash = card(page, 'Awash');
      await awash.locator('text=An operator of Meskot decides').waitFor();
      await awash.locator('button:has-text("Withdraw the request")').click();
      await awash.locator('text=Not requested').waitFor();
      await setChannel('AWASH', `approval = 'APPROVED', enabled = true`);
      await close();
    });

    test('a maintenance window is shown with its end and reason, in the language of the page', async () => {
      const sql = `INSERT INTO channel_maintenance (id, channel, environment, starts_at, ends_at, reason, reason_am, created_by)
                   VALUES ('cmt_01M84A7GP5EENTYEACDBY8KGHB', 'CBE_BIRR', 'sandbox', now() - interval '1 h', now() + interval '1 h', 'New lines', 'አዲስ መስመሮች', 'opr_1')`;
      await rows(portal.db, sql);
      const { page, close } = await portal.open('/test/channels', { role: 'owner', language: 'am' });
      const cbe = card(page, 'CBE Birr');
      await cbe.locator('text=አዲስ መስመሮች').waitFor();
      expect(await cbe.innerText()).toContain('ጥገና ላይ ነው');
      await portal.database.asOwner('DELETE FROM channel_maintenance');
      await close();
    });
  });

  const PDF = { mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4\n%%EOF\n') };
  const FIELDS = {
    'Legal name': 'Abyssinia Coffee PLC',
    'Trade name': 'Abyssinia Coffee',
    'Taxpayer number': '0012345613',
    'Trade licence number': 'AA/14/672/2017',
    'Expected payments per month': '250000',
    Address: 'Bole, woreda 3, house 112',
    'Contact person': 'Selam Tesfaye',
    'Phone of the contact person': '0911223344',
    'E-mail of the contact person': 'selam@shop.example.et',
  };

  /** Sandbox applications are decided after five seconds: now. */
  const decideNow = () =>
    rows(
      portal.db,
      `UPDATE kyc_application SET auto_decide_at = now() - interval '1 s' WHERE auto_decide_at IS NOT NULL`,
    );

  describe('verification', () => {
    test('a field that gets the focus by keyboard is not hidden behind the buttons, on a phone too', async () => {
      const { page, close } = await portal.open('/test/verification', { role: 'owner', viewport: WIDTHS[0] });
      await page.waitForSelector('text=0 of 14 done');
      await page.getByLabel('Legal name').focus();
      // Whether the point in the middle of the element belongs to something else.
      const isHidden = `(() => {
        const { left, top, width, height } = document.activeElement.getBoundingClientRect();
        const there = document.elementFromPoint(left + width / 2, top + height / 2);
        return !document.activeElement.contains(there);
      })()`;
      const names: string[] = [];
      for (let count = 0; count < 12; count += 1) {
        await page.keyboard.press('Tab');
        if (await page.evaluate<boolean>(isHidden)) {
          names.push(await page.evaluate<string>('document.activeElement.labels?.[0]?.innerText'));
        }
      }
      expect(names).toEqual([]);
      await close();
    });

    test('an application is filled in with mistakes, rejected with its reason, corrected and approved', async () => {
      const tab = await portal.open('/test/verification', { role: 'owner', expected: /status of 400/ });
      const { page, problems, close } = tab;
      await page.waitForSelector('text=0 of 14 done');
      await page.click('button:text-is("Submit")');
      await page.waitForSelector('text=What is missing is marked below');
      expect(await page.evaluate('document.activeElement.labels[0].innerText')).toContain('Legal name');
      for (const [label, value] of Object.entries(FIELDS)) await page.getByLabel(label).first().fill(value);
      await page.getByLabel('Kind of business').selectOption('PRIVATE_LIMITED_COMPANY');
      await page.getByLabel('Region').selectOption('ADDIS_ABABA');

      await page.getByLabel('Taxpayer number').fill('12');
      await page.click('button:text-is("Save")');
      await page.waitForSelector('text=This value is not accepted. Its 10 digits.');
      expect(await page.getByLabel('Taxpayer number').getAttribute('aria-invalid')).toBe('true');
      expect(await page.getByLabel('Legal name').inputValue()).toBe('Abyssinia Coffee PLC');
      await page.goto(`${portal.url}/test/channels`);
      await page.goto(`${portal.url}/test/verification`);
      expect(await page.getByLabel('Taxpayer number').inputValue()).toBe('12');
      await page.getByLabel('Taxpayer number').fill(FIELDS['Taxpayer number']);
      await page.click('button:text-is("Save")');
      await page.waitForSelector('text=The application is saved.');
      await page.reload();
      await page.waitForSelector('text=11 of 14 done');

      await page
        .getByLabel('Add a file: Trade licence')
        .setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
      await page.waitForSelector('text=This is no PDF, PNG or JPEG.');
      for (const kind of ['Trade licence', 'TIN certificate', 'Identity card of the owner']) {
        await page.getByLabel(`Add a file: ${kind}`).setInputFiles({ name: `${kind}.pdf`, ...PDF });
        await page.waitForSelector(`main li >> text="${kind}.pdf"`);
      }
      await page.waitForSelector('text=Everything that is needed is there.');
      await page.locator('button:text-is("Submit")').dblclick();
      await page.waitForSelector('text=Meskot is looking at your application');
      await decideNow();
      await page.waitForSelector('text=The sandbox rejects a TIN that ends in 13.');

      await page.getByLabel('Taxpayer number').fill('0012345600');
      await page.click('button:text-is("Submit again")');
      await page.waitForSelector('text=Meskot is looking at your application');
      await decideNow();
      await page.waitForSelector('text=Your business is verified.');
      const submissions = await first(
        portal.db,
        `SELECT submissions FROM kyc_application WHERE environment = 'sandbox'`,
      );
      expect(submissions).toEqual({ submissions: 2 });
      expect(await page.locator('section:has(h2:text-is("History"))').innerText()).toContain('your side');
      expect(problems).toEqual([]);
      await close();
    });

    test('a person who may not change the application reads it, and whom to ask', async () => {
      const developer = await portal.open('/live/verification');
      await developer.page.waitForSelector('text=Ask somebody with the role owner or admin.');
      expect(await developer.page.locator('main input').count()).toBe(0);
      expect(await developer.page.locator('main').innerText()).toContain('Opens with the verification');
      const support = await portal.open('/test/verification', { role: 'support', expected: /403/ });
      await support.page.waitForSelector('text=Your role does not include this.');
      expect(await support.page.locator('nav >> text=Verification').count()).toBe(0);
      await Promise.all([developer.close(), support.close()]);
    });
  });

  describe('bank account', () => {
    test('an account is linked after a wrong number, with what was typed kept', async () => {
      const tab = await portal.open('/test/settlements', { role: 'owner', expected: /status of 40[04]/ });
      const { page, problems, close } = tab;
      // A settlement says that it needs one.
      await page.click('main a:text-is("Open the bank account")');
      await page.click('button:has-text("Link an account")');
      await page.getByLabel('Bank').selectOption('CBE');
      await page.getByLabel('Account number').fill('12');
      await page.getByLabel('Name of the account').fill('Abyssinia Coffee PLC');
      await page.click('dialog button:text-is("Link an account")');
      await page.waitForSelector('text=This value is not accepted. 8 to 20 digits');
      expect(await page.getByLabel('Name of the account').inputValue()).toBe('Abyssinia Coffee PLC');
      await page.getByLabel('Account number').fill('1000 2047 19583');
      await page.click('dialog button:text-is("Link an account")');
      await page.waitForSelector('text=Commercial Bank of Ethiopia');
      expect(await page.locator('main').innerText()).toMatch(/Verified[^]*\*9583/);
      expect(problems).toEqual([]);
      await close();
    });

    test('in live a new account waits for its verification and is held after a change', async () => {
      const { merchantId } = portal.scope;
      const tab = await portal.open('/test/bank-account', { role: 'finance' });
      await confirmTwoFactor(portal.db, tab.email);
      const link = `INSERT INTO bank_account (id, merchant_id, environment, bank_code, account_number, account_name, status,
                      requested_by, usable_from) VALUES ('bac_01M84A7GP5EENTYEACDBY8KGHB', :merchantId, 'live', 'AWASH',
                      '0132045566', 'Abyssinia Coffee PLC', 'PENDING', 'key_1', now() + interval '48 h')`;
      await rows(portal.db, link, { merchantId });
      await tab.page.goto(`${portal.url}/live/bank-account`);
      await tab.page.waitForSelector('text=Waits for verification');
      await tab.page.waitForSelector('text=for 48 hours after a change');
      const viewer = await portal.open('/live/bank-account', { role: 'viewer' });
      await viewer.page.waitForSelector('text=Ask somebody with the role owner or finance.');
      expect(await viewer.page.locator('button:has-text("Link another account")').isDisabled()).toBe(true);
      await Promise.all([tab.close(), viewer.close()]);
    });
  });

  describe('get started', () => {
    test('a test payment is created once, paid, and seen to arrive; the steps follow what has happened', async () => {
      const { fixture, scope } = portal;
      const tab = await portal.open('/test/get-started', { role: 'owner' });
      const { page, problems, close } = tab;
      await page.waitForSelector('text=0 of 6 steps done');
      await page.locator('button:text-is("Create a test payment")').dblclick();
      const link = page.locator('a:text-is("Open the checkout page")');
      expect(await link.getAttribute('href')).toMatch(/[/]checkout[/]cs_/);
      const sessions = await rows<{ id: string }>(portal.db, 'SELECT id FROM checkout_session');
      expect(sessions).toHaveLength(1);
      const sessionId = sessions[0]?.id ?? '';
      const attemptId = await buildAttempt(fixture, { ...scope, sessionId }, { channel: 'TELEBIRR' });
      fixture.provider.returns({ ...PAID, amountSantim: 10_000n });
      await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
      await page.waitForSelector('text=1 of 6 steps done');
      await page.waitForSelector('text=No webhook was sent for it');
      expect(await page.locator('main').innerText()).toContain(
        'Missing: the verification of your business, two-factor authentication of your own account.',
      );
      await page.waitForSelector('text=Test has a verification of its own');
      expect(await page.locator('a:text-is("Go to live")').count()).toBe(0);
      await page.click('a:text-is("Turn on two-factor authentication")');
      await page.waitForURL('**/test/security');
      await page.goBack();
      await page.click('text=Open the transaction');
      await page.waitForURL('**/test/transactions/txn_*');
      expect(problems).toEqual([]);
      await close();
    });

    test('a person who may not create payments reads whom to ask', async () => {
      const { page, close } = await portal.open('/test/get-started');
      await page.waitForSelector('text=Make a test payment');
      expect(await page.locator('main').innerText()).toContain('Ask somebody with the role owner or admin.');
      await close();
    });
  });

  test.each(['en', 'am'] as const)(
    'the screens have no fault of accessibility and no error, in %s',
    async (language) => {
      const tab = await portal.open('/test/channels', { language, role: 'owner', expected: /404/ });
      const found: string[] = [];
      for (const name of ['channels', 'verification', 'bank-account', 'get-started']) {
        await visit(tab.page, `/test/${name}`);
        found.push(...(await inspectScreen(tab, `portal-${name}-${language}`)));
      }
      await rows(
        portal.db,
        `UPDATE kyc_application SET status = 'MORE_INFO_NEEDED', tier = 0, review_message = 'A clear copy.'`,
      );
      await portal.database.asOwner('UPDATE bank_account SET replaced_at = now() WHERE replaced_at IS NULL');
      for (const name of ['verification', 'bank-account']) {
        await tab.page.goto(`${portal.url}/test/${name}`);
        found.push(...(await inspectScreen(tab, `portal-${name}-open-${language}`)));
      }
      await tab.page.click('main button >> nth=-1');
      found.push(...(await inspectScreen(tab, `portal-link-account-${language}`)));
      expect(found).toEqual([]);
      expect(tab.problems).toEqual([]);
      await tab.close();
    },
    240_000,
  );
});
