import { generate } from 'otplib';

import { addPerson, confirmTwoFactor, PASSWORD } from '../portal/portal.ts';
import { inspect, openTab, screenshot } from './browser.ts';
import { inspectScreen, usePortal } from './portal.ts';

describe('a person’s own account', () => {
  const portal = usePortal({ payments: 0 });

  const NEW_PASSWORD = 'seven quiet hills of the north';

  test('a person signs in with e-mail, password and Enter, and gets to the page of the link', async () => {
    const email = await addPerson(portal.db, portal.scope.merchantId, 'viewer');
    const { page, problems, close } = await openTab(portal.browser, { origins: [portal.url] });
    await page.goto(`${portal.url}/test/channels`);
    await page.waitForURL(`${portal.url}/sign-in?next=%2Ftest%2Fchannels`);
    await page.fill('[name=email]', email);
    await page.fill('[name=password]', PASSWORD);
    await page.press('[name=password]', 'Enter');
    await page.waitForURL(`${portal.url}/test/channels`);
    await page.waitForSelector('#content');
    expect(problems).toEqual([]);
    await close();
  });

  test('two-factor authentication is turned on with a code, and a change in live asks for one', async () => {
    const tab = await portal.open('/test/security', { role: 'finance', expected: /status of 40[034]/ });
    const { page, problems, close } = tab;
    await page.click('button:text-is("Turn on")');
    const password = page.locator('dialog input[type=password]');
    await password.fill('not my password');
    await page.click('dialog button:text-is("Go on")');
    await page.waitForSelector('dialog >> text=This is not your present password.');
    await password.fill(PASSWORD);
    await page.click('dialog button:text-is("Go on")');
    await page.waitForSelector('dialog svg[role=img]');
    const secret = await page.locator('dialog code').first().innerText();
    const code = page.getByRole('textbox', { name: 'Code' });
    await code.fill('000000');
    await page.click('dialog button:text-is("Confirm")');
    await page.waitForSelector('text=This code is wrong');
    await code.fill(await generate({ secret }));
    await page.click('dialog button:text-is("Confirm")');
    const recovery = await page.locator('dialog pre').innerText();
    await page.click('text=I have stored them');
    await page.waitForSelector('text=On since');

    await portal.database.asOwner('UPDATE user_session SET step_up_at = NULL');
    await page.goto(`${portal.url}/live/bank-account`);
    await page.click('button:has-text("Link an account")');
    await page.getByLabel('Bank').selectOption('CBE');
    await page.getByLabel('Account number').fill('1000204719583');
    await page.getByLabel('Name of the account').fill('Abyssinia Coffee PLC');
    await page.locator('dialog button:text-is("Link an account")').click();
    await code.waitFor();
    await page.keyboard.type(recovery.split('\n')[0] ?? '');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=Waits for verification');
    expect(problems).toEqual([]);
    await close();
  });

  test('live shows why it is closed and the step that opens it, in place of what would be refused', async () => {
    const tab = await portal.open('/live/transactions', { role: 'admin', expected: /status of 403/ });
    const { page, problems, close } = tab;
    const main = page.locator('main');
    await page.setViewportSize({ width: 1280, height: 800 });
    await main.getByText('Live is not open for this merchant yet.').waitFor();
    expect(await main.locator('button').count()).toBe(0);
    expect(await main.getByRole('link').getAttribute('href')).toBe('/test/get-started');
    await page.click('nav >> text=Verification');
    await main.getByText('In live your role needs two-factor authentication.').waitFor();
    expect(await page.title()).toBe('Verification · LIVE · Abyssinia Coffee');
    await page.click('nav >> text=Team');
    await main.getByRole('table').first().waitFor();
    await page.goBack();
    await main.getByRole('link', { name: 'Set up an authenticator' }).waitFor();
    expect(await inspectScreen(tab, 'portal-live-closed')).toEqual([]);
    await main.getByRole('link', { name: 'Set up an authenticator' }).click();
    await main.getByRole('button', { name: 'Turn on' }).waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  test('a passkey is added under Security, replaces a code, and signs in', async () => {
    const { page, problems, email, close } = await portal.open('/test/security', {
      role: 'admin',
      expected: /status of 40[13]/,
    });
    const devices = await page.context().newCDPSession(page);
    await devices.send('WebAuthn.enable');
    const options = {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
    } as const;
    const { authenticatorId } = await devices.send('WebAuthn.addVirtualAuthenticator', {
      options: { ...options, isUserVerified: true, automaticPresenceSimulation: true },
    });
    await page.waitForSelector('text=Turn two-factor authentication on first');
    await confirmTwoFactor(portal.db, email);
    await page.reload();
    await page.click('button:text-is("Add a passkey")');
    await page.getByLabel('Name').fill('Work phone');
    await page.click('dialog button:text-is("Go on")');
    await page.waitForSelector('text=The passkey is added.');
    expect(await page.locator('dialog').count()).toBe(0);

    await portal.database.asOwner('UPDATE user_session SET step_up_at = NULL');
    await page.click('button:text-is("New recovery codes")');
    await page.waitForSelector('button:text-is("Use a passkey")');
    await screenshot(page, 'step-up-passkey');
    await page.click('button:text-is("Use a passkey")');
    await page.click('text=I have stored them');

    await page.context().clearCookies();
    // The page may find out itself that it has no session, and lead there first.
    await page.goto(`${portal.url}/sign-in?next=/test/security`).catch(async () => page.waitForURL('**/sign-in?**'));
    await page.click('button:text-is("Sign in with a passkey")');
    await page.waitForSelector('h1:text-is("Security")');
    await page.click('button[aria-label="Remove: Work phone"]');
    await page.click('dialog button:text-is("Remove")');
    await page.waitForSelector('text=You have no passkey yet.');

    // A removed passkey opens nothing; nor does a device whose person refuses.
    await page.context().clearCookies();
    await page.goto(`${portal.url}/sign-in`);
    await page.click('button:text-is("Sign in with a passkey")');
    await page.waitForSelector('text=This passkey is of no account here');
    await devices.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
    await devices.send('WebAuthn.addVirtualAuthenticator', { options: { ...options, isUserVerified: false } });
    await page.click('button:text-is("Sign in with a passkey")');
    await page.waitForSelector('text=No passkey was used.');
    await screenshot(page, 'sign-in-passkey');
    expect(problems).toEqual([]);
    await close();
  });

  test('a new password ends the other sessions, and wrong ones are named beside their field', async () => {
    const other = await portal.open('/test/security', { role: 'support' });
    const { page, close } = await portal.open('/test/security', {
      role: 'support',
      expected: /status of 400/,
    });
    await page.locator('tbody tr').nth(1).waitFor();
    expect(await page.locator('tbody tr').count()).toBe(2);
    await page.getByLabel('Present password').fill('wrong');
    await page.getByLabel('New password').fill(NEW_PASSWORD);
    await page.click('button:text-is("Change the password")');
    await page.waitForSelector('text=This is not your present password.');
    expect(await page.getByLabel('New password').inputValue()).toBe(NEW_PASSWORD);
    await page.getByLabel('Present password').fill('correct horse battery staple');
    await page.click('button:text-is("Change the password")');
    await page.waitForSelector('text=The password is changed.');
    await page.locator('tbody tr').nth(1).waitFor({ state: 'detached' });
    // The page finds it out itself, and says so.
    await other.page.waitForURL('**/sign-in?**');
    await other.page.getByText('Your session has ended.').waitFor();
    await Promise.all([other.close(), close()]);
  });

  test('a session that ends leaves what is typed in a form, which the person sends after a new sign-in, and nobody else', async () => {
    const tab = await portal.open('/test/transactions', { role: 'owner', expected: /status of 401/ });
    const { page, problems, email, close } = tab;
    const order = page.getByLabel('Checkout Order No');
    const ended = page.getByRole('dialog', { name: 'Your session has ended' });
    const signInAs = async (person: string): Promise<void> => {
      const [other] = await Promise.all([page.context().waitForEvent('page'), ended.getByRole('link').click()]);
      await other.fill('[name=email]', person);
      await other.fill('[name=password]', PASSWORD);
      await other.press('[name=password]', 'Enter');
      await other.waitForSelector('#content');
      await other.close();
    };
    await page.click('button:text-is("New payment")');
    await page.getByLabel('Amount').fill('120');
    await order.fill('TYPED-1');
    await portal.database.asOwner('UPDATE user_session SET ended_at = now() WHERE ended_at IS NULL');
    await ended.waitFor();
    expect(await inspect(page, 'portal-session-ended')).toEqual([]);
    await ended.getByRole('button', { name: 'I have signed in' }).click();
    await ended.getByText('You are not signed in yet.').waitFor();
    await page.keyboard.press('Escape');
    await ended.waitFor();
    await signInAs(email);
    await page.evaluate(`dispatchEvent(new Event('focus'))`);
    await ended.waitFor({ state: 'detached' });
    expect(await order.inputValue()).toBe('TYPED-1');
    await page.click('dialog button:text-is("Create")');
    await page.getByRole('dialog', { name: 'TYPED-1' }).waitFor();
    await page.waitForSelector('dialog h2:focus:text-is("TYPED-1")');
    await page.keyboard.press('Escape');

    await page.click('button:text-is("New payment")');
    await order.fill('TYPED-2');
    await portal.database.asOwner('UPDATE user_session SET ended_at = now() WHERE ended_at IS NULL');
    await ended.waitFor();
    await signInAs(await addPerson(portal.db, portal.scope.merchantId, 'viewer'));
    await ended.getByRole('button', { name: 'I have signed in' }).click();
    await order.waitFor({ state: 'detached' });
    await page.waitForSelector('h1:text-is("Transaction")');
    expect(await page.locator('dialog').count()).toBe(0);
    expect(problems).toEqual([]);
    await close();
  }, 60_000);

  test('in Amharic an error is a sentence in Amharic, and the English one with its field is behind a button', async () => {
    const { page, close } = await portal.open('/test/transactions', {
      role: 'owner',
      language: 'am',
      expected: /status of 400/,
    });
    await page.locator('main header button').last().click();
    await page.fill('dialog input[inputmode=decimal]', '120');
    // Of a field that the form does not have: others have it beside them.
    const message = 'payerPhone must be an Ethiopian mobile number';
    const details = [{ field: 'payerPhone', issue: message, code: 'not_a_phone' }];
    const json = { success: false, message, requestId: 'req_1', error: { code: 'VALIDATION_ERROR', details } };
    await page.route('**/api/checkout/sessions', (route) => route.fulfill({ status: 400, json }));
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('dialog [role=alert]');
    const alert = await page.locator('dialog [role=alert]').innerText();
    expect(alert).toMatch(/^ካስገቡት ውስጥ ተቀባይነት የሌለው አለ። የኢትዮጵያ ሞባይል ቁጥር/);
    expect(alert).toMatch(/req_/);
    await page.click('dialog [role=alert] summary');
    expect(await page.locator('dialog [role=alert] [lang=en]').innerText()).toContain('payerPhone must be');
    await close();
  });

  test('signing out everywhere leaves nothing of a person in the browser', async () => {
    const { page, close } = await portal.open('/test/security', { role: 'viewer' });
    await page.evaluate(`sessionStorage.setItem('verification', 'typed')`);
    await page.click('button:text-is("Sign out everywhere")');
    await page.waitForURL('**/sign-in');
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    await close();
  });

  test('what a person has typed in a tab is not there for another one who signs in in it', async () => {
    const { page, close } = await portal.open('/test/security', { role: 'viewer', expected: /status of 401/ });
    await page.evaluate(`sessionStorage.setItem('verification', 'typed')`);
    const read = (): Promise<string | null> => page.evaluate(`sessionStorage.getItem('verification')`);
    const signInAs = async (person: string): Promise<void> => {
      await page.context().clearCookies();
      await page.goto(`${portal.url}/sign-in`);
      await page.fill('[name=email]', person);
      await page.fill('[name=password]', PASSWORD);
      await page.press('[name=password]', 'Enter');
      await page.waitForSelector('#content');
    };
    const own = await addPerson(portal.db, portal.scope.merchantId, 'owner');
    await signInAs(own);
    expect(await read()).toBeNull();
    await page.evaluate(`sessionStorage.setItem('verification', 'typed')`);
    await signInAs(own);
    expect(await read()).toBe('typed');
    await close();
  });

  test('language and calendar of the pages follow the profile', async () => {
    const { page, close } = await portal.open('/test/profile', { role: 'viewer' });
    await page.getByLabel('Ethiopian', { exact: true }).check();
    await Promise.all([page.waitForEvent('load'), page.click('button:text-is("Save")')]);
    await page.goto(`${portal.url}/test/security`);
    expect(await page.locator('tbody time').first().innerText()).toMatch(/20(?:1\d)/);
    await close();
  });

  test.each(['en', 'am'] as const)('the screens have no fault of accessibility, in %s', async (language) => {
    const tab = await portal.open('/test/security', { language, expected: /404/ });
    const found = [await inspectScreen(tab, `portal-security-${language}`)];
    await tab.page.goto(`${portal.url}/test/profile`);
    found.push(await inspectScreen(tab, `portal-profile-${language}`));
    expect(found.flat()).toEqual([]);
    expect(tab.problems).toEqual([]);
    await tab.close();
  });
});
