import { createKey, createOperatorKey } from '../../src/access/api-keys.ts';
import { addOperator } from '../portal/console.ts';
import { WIDTHS } from './browser.ts';
import { useConsole } from './console.ts';
import { inspectScreen } from './portal.ts';

describe('who has access, at the console', () => {
  const console = useConsole();
  const keyDeps = { pepper: 'a pepper of sixteen', clock: () => new Date() };

  test("an admin revokes another operator's key and invitation, and can create neither key for them", async () => {
    const { operatorId, email } = await addOperator(console.db, 'finance');
    await console.db.transaction((trx) => createOperatorKey({ trx, ...keyDeps }, { operatorId, name: 'Laptop' }));
    const tab = await console.open('/test/operators', { role: 'admin' });
    const { page, problems, close } = tab;
    await page.locator('tbody tr', { hasText: email }).getByRole('link').click();
    await page.waitForSelector('dialog tr:has-text("Laptop") >> text=valid');
    expect(await page.locator('dialog button:text-is("New key")').count()).toBe(0);
    expect(await inspectScreen(tab, 'console-operator')).toEqual([]);
    await page.getByRole('button', { name: 'Revoke: Laptop' }).click();
    await page.getByRole('textbox', { name: 'Reason' }).fill('Lost');
    await page.click('dialog dialog button:text-is("Revoke")');
    await page.waitForSelector('dialog tr:has-text("Laptop") >> text=revoked');

    await page.click('dialog button:text-is("Invite again")');
    await page.click('dialog dialog button:text-is("Invite again")');
    await page.waitForSelector('dialog >> text=It is shown only now.');
    await page.keyboard.press('Escape');
    await page.locator('dialog tr', { hasText: 'Sign in, and create a first key' }).getByRole('button').click();
    await page.getByRole('textbox', { name: 'Reason' }).fill('Wrong address');
    await page.click('dialog dialog button:text-is("Revoke")');
    await page.waitForSelector('dialog >> text=No invitation is open.');
    expect(problems).toEqual([]);
    await close();
  });

  test("a merchant is invited to rotate a key, and its owner's invitation is revoked", async () => {
    const { merchantId } = console.scope;
    await console.db.transaction((trx) =>
      createKey(
        { trx, ...keyDeps },
        {
          ...console.scope,
          kind: 'secret',
          name: 'Shop',
          scopes: [],
          ipRanges: [],
          createdBy: null,
          expiresAt: null,
        },
      ),
    );
    const { page, problems, close } = await console.open(`/test/merchants/${merchantId}`, {
      role: 'admin',
      viewport: WIDTHS[1],
    });
    await page.getByRole('button', { name: 'Invite to rotate: Shop' }).click();
    await page.getByLabel('Overlap in hours').fill('2');
    await page.click('dialog button:text-is("Invite to rotate")');
    expect(await page.locator('dialog code').innerText()).toMatch(/^invite_/);
    await page.keyboard.press('Escape');
    await page.waitForSelector('main tr:has-text("Rotate a key") >> text=The admin');
    await page.click('main button:text-is("Invite an owner")');
    await page.getByLabel('E-mail of the owner').fill('hana@shop.example.et');
    await page.getByRole('textbox', { name: 'Reason' }).fill('Asked by phone');
    await page.click('dialog button:text-is("Invite an owner")');
    const owner = page.locator('main tr', { hasText: 'hana@shop.example.et' });
    await owner.getByRole('button').click();
    await page.getByRole('textbox', { name: 'Reason' }).fill('Wrong address');
    await page.click('dialog button:text-is("Revoke")');
    await owner.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await close();
  });

  test('a role without the permission sees neither keys of others nor invitations, and why the commands are disabled', async () => {
    const { page, problems, close } = await console.open('/test/operators');
    await page.locator('tbody a').first().click();
    await page.waitForSelector('dialog >> text=Ask somebody with the role admin');
    expect(await page.locator('dialog h2').count()).toBe(1);
    expect(problems).toEqual([]);
    await close();
  });
});
