import { findUserByEmail, setMembership } from '../../src/access/users/users.ts';
import { first, rows } from '../../src/lib/db.ts';
import { addPerson, confirmTwoFactor } from '../portal/portal.ts';
import { until } from '../support/until.ts';
import { openTab, WIDTHS } from './browser.ts';
import { inspectScreen, usePortal } from './portal.ts';

describe('the team of a merchant', () => {
  const portal = usePortal({ payments: 0 });

  test('an owner invites somebody once, changes a role and removes a member, and stays the last owner', async () => {
    const { merchantId } = portal.scope;
    const helper = await addPerson(portal.db, merchantId, 'support');
    const tab = await portal.open('/test/team', { role: 'owner', expected: /status of 40[09]/ });
    const { page, problems, close } = tab;
    await page.waitForSelector('text=Changes of the team need two-factor authentication.');
    expect(await page.locator('button:has-text("Invite somebody")').isDisabled()).toBe(true);
    await confirmTwoFactor(portal.db, tab.email);
    await page.reload();
    await page.waitForSelector('text=The last owner: make somebody else an owner first.');

    await page.click('button:has-text("Invite somebody")');
    const email = page.getByRole('textbox', { name: 'E-mail' });
    await email.fill('new@shop');
    await page.getByLabel('finance:').check();
    await page.click('dialog button:text-is("Send the invitation")');
    await page.waitForSelector('text=This value is not accepted. An address such as');
    await email.fill(helper);
    await page.click('dialog button:text-is("Send the invitation")');
    await page.waitForSelector('text=This is a member already.');
    await email.fill('new@shop.example.et');
    await page.locator('dialog button:text-is("Send the invitation")').dblclick();
    await page.waitForSelector('text=The invitation to new@shop.example.et is sent.');
    const invited = await rows(portal.db, `SELECT role FROM user_token WHERE email = 'new@shop.example.et'`);
    expect(invited).toEqual([{ role: 'finance' }]);
    await page.click('button:text-is("Revoke")');
    await page.waitForSelector('text=Nobody is invited just now.');

    await page.getByRole('button', { name: 'Change role: The support' }).click();
    await page.getByLabel('developer:').check();
    await page.click('dialog button:text-is("Save")');
    await page.waitForSelector('text=The role is changed.');
    const member = await first(
      portal.db,
      `SELECT role FROM membership JOIN user_account u ON u.id = user_id WHERE u.email = :helper`,
      { helper },
    );
    expect(member).toEqual({ role: 'developer' });
    await page.getByRole('button', { name: 'Remove: The support' }).click();
    await page.click('dialog button:text-is("Remove")');
    await page.waitForSelector('text=The member is removed.');
    expect(await page.locator('tbody tr').count()).toBe(1);
    expect(problems).toEqual([]);
    await close();
  });

  test('a person of two merchants switches between them, and a page that shows the former one changes nothing', async () => {
    const { page, close, email } = await portal.open('/test/webhooks', { expected: /status of 400/ });
    const otherId = await portal.newMerchant('Second Shop');
    const user = await findUserByEmail(portal.db, email);
    await portal.db.transaction((trx) =>
      setMembership(trx, { userId: user?.id ?? '', merchantId: otherId, role: 'owner' }),
    );
    await page.click('button:has-text("New subscription")');
    await page.fill('dialog input[type=url]', 'http://127.0.0.1:9/hook');

    // What the first tab reads by itself waits until it has tried to change something.
    let hasChanged = false;
    await page.route('**/api/**', async (route) => {
      hasChanged ||= route.request().method() === 'POST';
      if (hasChanged) await route.continue();
    });
    const second = await page.context().newPage();
    await second.goto(`${portal.url}/test/webhooks`);
    await second.getByRole('button', { name: 'Account' }).click();
    await second.getByLabel('Merchant').selectOption('Second Shop');
    await second.waitForSelector('header >> text=Second Shop');
    await page.click('dialog button:has-text("Create")');
    await page.waitForSelector('header >> text=Second Shop');
    await page.waitForSelector('text=No subscriptions yet.');
    expect(await rows(portal.db, 'SELECT 1 FROM webhook_subscription')).toEqual([]);
    await close();
  });

  test('a business that signs up with a double click sees its first key', async () => {
    const { page, problems, close } = await openTab(portal.browser, { origins: [portal.url] });
    await page.goto(`${portal.url}/sign-up`);
    await page.getByLabel('Name of the business').fill('Double Click Shop');
    await page.getByLabel('Your name').fill('Abebe Kebede');
    await page.getByLabel('E-mail address').fill('double@shop.example.et');
    await page.click('main button');
    await page.waitForSelector('text=Check your mail');
    await page.goto(`${portal.url}/dev/mail`);
    await page.locator('article', { hasText: 'double@shop.example.et' }).locator('a').click();
    await page.getByLabel('New password').fill('seven grey donkeys 41');
    await page.locator('main button').click({ clickCount: 2, delay: 50, noWaitAfter: true });
    await page.waitForSelector('pre:has-text("sk_test_")');
    await page.context().grantPermissions([]);
    await page.click('button:text-is("Copy")');
    await until('the key to be selected', async () => page.evaluate(`String(getSelection()).startsWith('sk_test_')`));
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.click('button:text-is("Copy")');
    await page.waitForSelector('button:text-is("Copied")');
    const [key = '', call = ''] = await page.locator('pre').allTextContents();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);
    expect(call).toMatch(/^curl -H "x-api-key: sk_test_\w+" "http.+[/]api[/]checkout[/]channels"$/);
    expect(call).toContain(key);
    expect(await page.locator('header a').count()).toBe(0);
    expect(problems).toEqual([]);
    await close();
  });

  test('a member who is removed while signed in sees no screen of the merchant any more', async () => {
    const { page, close, email } = await portal.open('/test/transactions', { role: 'support', expected: /403/ });
    await page.waitForSelector('main h1');
    const sql = `UPDATE membership SET removed_at = now() FROM user_account u WHERE u.id = user_id AND u.email = :email`;
    await rows(portal.db, sql, { email });
    await page.waitForSelector('text=You do not belong to a merchant.');
    expect(await page.locator('#sidebar').count()).toBe(0);
    await page.click('button:text-is("Sign out")');
    await page.waitForURL('**/sign-in');
    await close();
  });

  test('on a phone the state of two-factor has its name beside it', async () => {
    const { page, close } = await portal.open('/test/team', { role: 'admin', viewport: WIDTHS[0] });
    await page.waitForSelector('td[data-label="Two-factor"]:has-text("Off")');
    await close();
  });

  test('a person who may not see the team reads whom to ask', async () => {
    const { page, close } = await portal.open('/test/team', { role: 'viewer', expected: /403/ });
    await page.waitForSelector('text=Your role does not include this.');
    await close();
  });

  test.each(['en', 'am'] as const)('the screen has no fault of accessibility, in %s', async (language) => {
    const tab = await portal.open('/test/team', { language, role: 'admin' });
    expect(await inspectScreen(tab, `portal-team-${language}`)).toEqual([]);
    expect(tab.problems).toEqual([]);
    await tab.close();
  });
});
