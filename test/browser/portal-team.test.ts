import { first, rows } from '../../src/lib/db.ts';
import { addPerson, confirmTwoFactor } from '../portal/portal.ts';
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
