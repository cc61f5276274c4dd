import { ATTEMPTS_MAX } from '../../src/payments/states.ts';
import { ACCEPTED, declined, PAID, PENDING, UNKNOWN } from '../support/build.ts';
import { PAY_FORM, startPages, type OpenPage, type StartedPages } from './pages.ts';

let pages: StartedPages;

beforeAll(async () => {
  pages = await startPages();
});
afterAll(() => pages.close());

/** A page with an attempt in flight, in another minute than the provider's last query. */
async function payOn(page: OpenPage, form = PAY_FORM) {
  pages.fixture.provider.returns(PENDING);
  await page.post('pay', form);
  pages.fixture.pass(60_000);
}

async function waiting(): Promise<OpenPage> {
  const page = await pages.open();
  await payOn(page);
  return page;
}

describe('changing number or channel', () => {
  test('takes the attempt back after a query of the provider, and the session takes another one', async () => {
    const page = await waiting();
    const asked = pages.fixture.provider.queries.length;
    expect((await page.post('change')).status).toBe(303);
    expect(pages.fixture.provider.queries).toHaveLength(asked + 1);
    expect(await pages.stateOf(page)).toMatchObject({
      session: 'OPEN',
      transaction: 'PENDING',
      attempts: ['ABANDONED'],
    });
    const read = await page.read();
    expect(read).toContain('was taken back. Please do not confirm it any more.');
    expect(await page.text()).toContain('value="0911000001"');
    await payOn(page, { channel: 'CBE_BIRR', phone: '0911000004' });
    expect(await pages.stateOf(page)).toMatchObject({ session: 'PROCESSING', attempts: ['ABANDONED', 'PENDING'] });
  });

  test('has an attempt that was taken back queried as well when the customer asks whether it was paid', async () => {
    const { queries } = pages.fixture.provider;
    const page = await waiting();
    const first = await page.attempt();
    await page.post('change');
    await payOn(page);
    const second = await page.attempt();
    queries.length = 0;
    await page.post('check');
    expect(queries.map(({ orderId }) => orderId).toSorted()).toEqual([first, second].toSorted());
    pages.fixture.pass(60_000);
    pages.fixture.provider.returns(declined(true));
    await page.post('check');
    pages.fixture.pass(60_000);
    pages.fixture.provider.returns(PAID);
    await page.post('check');
    expect(await page.read()).toContain('Paid. Thank you!');
  });

  test('is in the timeline of the transaction, and causes no event', async () => {
    const page = await waiting();
    const { events } = await pages.stateOf(page);
    await page.post('change');
    expect((await pages.stateOf(page))['events']).toEqual(events);
    const kinds = await pages.db.knex()('timeline').where({ resourceId: page.transactionId }).pluck('kind');
    expect(kinds).toContain('attempt.withdrawn');
  });

  test('shows the receipt instead when the customer has paid meanwhile', async () => {
    const page = await waiting();
    pages.fixture.provider.returns(PAID);
    await page.post('change');
    expect(await page.read()).toContain('Paid. Thank you!');
  });

  test('is rejected with a message while the outcome is unknown', async () => {
    const page = await waiting();
    pages.fixture.provider.returns(UNKNOWN);
    const answer = await page.post('change');
    expect(answer.status).toBe(409);
    expect(await answer.text()).toContain('telebirr has not answered yet, so the request cannot be taken back.');
    expect(await pages.stateOf(page)).toMatchObject({ session: 'PROCESSING', attempts: ['PENDING'] });
  });

  test('is not offered, and does nothing, on the last attempt', async () => {
    const page = await waiting();
    for (let count = 1; count < ATTEMPTS_MAX; count += 1) {
      expect(await page.text()).toContain('Change number');
      await page.post('change');
      await payOn(page);
    }
    expect(await page.text()).not.toContain('Change number');
    expect((await page.post('change')).status).toBe(409);
    expect(await pages.stateOf(page)).toMatchObject({
      session: 'PROCESSING',
      attempts: ['ABANDONED', 'ABANDONED', 'PENDING'],
    });
  });

  test('leads to the expired page when the time is over', async () => {
    const page = await pages.open({ expiresInMinutes: 5 });
    await payOn(page);
    pages.fixture.pass(5 * 60_000);
    await page.post('change');
    expect(await page.read()).toContain('has expired');
  });

  test('late money on the attempt that was taken back still pays', async () => {
    const page = await waiting();
    const attempt = await page.attempt();
    await page.post('change');
    pages.fixture.provider.returns(PAID);
    await pages.fixture.checkAttempt(attempt, { notifyWorkflow: false });
    expect(await pages.stateOf(page)).toMatchObject({ session: 'COMPLETED', transaction: 'SUCCESS' });
  });

  test('form posts of other sites change nothing', async () => {
    const page = await waiting();
    const foreign = { 'sec-fetch-site': 'cross-site' };
    for (const verb of ['change', 'check', 'cancel']) expect((await page.post(verb, {}, foreign)).status).toBe(403);
    expect(await pages.stateOf(page)).toMatchObject({ session: 'PROCESSING' });
  });
});

describe('cancelling', () => {
  test('is a question first, also without script', async () => {
    const page = await waiting();
    expect(await page.read('/cancel')).toMatch(/Cancel this payment\?.*If you have already confirmed.*Yes, cancel/);
    expect(await pages.stateOf(page)).toMatchObject({ session: 'PROCESSING' });
    await page.post('cancel');
    expect(await page.read()).toMatch(/Payment cancelled.*If you have confirmed, we send the result to the shop/);
  });

  test('is rejected with a message while the outcome is unknown', async () => {
    const page = await waiting();
    pages.fixture.provider.returns(UNKNOWN);
    const answer = await page.post('cancel');
    expect([answer.status, await answer.text()]).toEqual([409, expect.stringContaining('has not answered yet')]);
  });

  test('has no question once the payment is over', async () => {
    const page = await pages.open();
    await page.post('cancel');
    expect(await page.read('/cancel')).toMatch(/^ *Payment cancelled/);
  });
});

describe('the text of the page', () => {
  test('names the masked number and the channel: a request on the phone', async () => {
    expect(await (await waiting()).read()).toMatch(
      /We sent a request to ••••••0001 the number ending in 0001 by telebirr\. .*Pay within 29 min/,
    );
  });

  test('leads on where the channel has a page of its own', async () => {
    const page = await pages.open();
    pages.fixture.provider.returns(ACCEPTED);
    await page.post('pay', PAY_FORM);
    expect(await page.read()).toMatch(/Confirm with telebirr .* Go on to telebirr/);
    expect(await page.text()).toContain('href="https://pay.example/confirm"');
  });

  test('of held money warns not to pay again, with the reference', async () => {
    const page = await waiting();
    pages.fixture.provider.returns({ ...PAID, amountSantim: 1n });
    await pages.fixture.checkAttempt(await page.attempt(), { notifyWorkflow: false });
    const read = await page.read();
    expect(read).toMatch(/of a different amount\. Please do not pay again\. We send the result to the shop/);
    expect(read).toContain(`PROV-${await page.attempt()}`);
    expect((await page.post('change')).status).toBe(303);
  });

  test('of a definite decline neither asks to wait nor offers to check, and follows the state', async () => {
    const page = await waiting();
    pages.fixture.pass(3_000);
    pages.fixture.provider.returns(declined(false));
    await pages.fixture.checkAttempt(await page.attempt(), { notifyWorkflow: false });
    const read = await page.read();
    expect(read).toMatch(/The payment was declined\. Go back to the shop/);
    expect(read).not.toMatch(/If you have confirmed|check now/);
    expect(await page.text()).toContain(`data-state="${page.path}/state"`);
  });

  test('of a decline after an attempt that was taken back still asks to wait: that one may be paid', async () => {
    const page = await waiting();
    await page.post('change');
    await payOn(page, { channel: 'CBE_BIRR', phone: '0911000004' });
    pages.fixture.provider.returns(declined(false));
    await pages.fixture.checkAttempt(await page.attempt(), { notifyWorkflow: false });
    expect(await page.read()).toMatch(/The payment was declined.+If you have confirmed/);
  });

  test('after an attempt was sent, an expired page asks to wait before paying again', async () => {
    const page = await waiting();
    pages.fixture.pass(30 * 60_000);
    pages.fixture.provider.returns(PENDING);
    await pages.fixture.expireAttempt(await page.attempt(), pages.fixture.clock());
    const read = await page.read();
    expect(read).toContain('has expired');
    expect(read).toContain(
      'If you have confirmed, we send the result to the shop. Wait a few minutes before you pay again.',
    );
    // The provider may still respond: the page follows the state, and can trigger a query.
    expect(await page.text()).toContain(`data-state="${page.path}/state"`);
    pages.fixture.provider.returns(PAID);
    pages.fixture.pass(60_000);
    await page.post('check');
    expect(await page.read()).toContain('Paid. Thank you!');
  });

  test('of a session that expired without an attempt follows no state', async () => {
    const page = await pages.open({ expiresInMinutes: 5 });
    pages.fixture.pass(5 * 60_000);
    const text = await page.text();
    expect(text).not.toContain('If you have confirmed');
    expect(text).not.toContain('data-state');
  });

  test('after a decline offers another channel first, and keeps the number', async () => {
    const page = await pages.open();
    pages.fixture.provider.returns(declined(true));
    await page.post('pay', PAY_FORM);
    const text = await page.text();
    expect(text).toMatch(/value="CBE_BIRR" required checked/);
    expect(text).toContain('value="0911000001"');
  });

  test('has the phone number of the session', async () => {
    const page = await pages.open({ customerPhone: '251911000003' });
    expect(await page.text()).toContain('value="0911000003"');
    const foreign = await pages.open({ customerPhone: '4915112345678' });
    expect(await foreign.text()).not.toContain('4915112345678');
  });

  test('of the receipt has amount, shop, order, channel, reference and date, in both languages', async () => {
    const page = await waiting();
    pages.fixture.provider.returns(PAID);
    await page.post('check');
    const read = await page.read();
    const facts = ['100.50 ETB', 'Abyssinia Coffee', page.checkoutOrderNo, 'telebirr', `PROV-${await page.attempt()}`];
    for (const fact of facts) expect(read).toContain(fact);
    expect(read).toMatch(/Date 2 March 2026, 1\d:\d\d \(Addis Ababa\)/);
    const amharic = await page.text({ cookie: `${page.cookie}; meskot_language=am` });
    expect(amharic).toContain('100.50 ብር');
    expect(amharic).toMatch(/23 የካቲት 2018፣ ከሰዓት [6-9]:\d\d \(በ24 ሰዓት አቆጣጠር 1\d:\d\d\)/);
  });
});

describe('an error of the form', () => {
  test('is tied to the phone', async () => {
    const page = await pages.open();
    const text = await (await page.post('pay', { ...PAY_FORM, phone: '12' })).text();
    expect(text).toContain('<title>Error: Pay Abyssinia Coffee</title>');
    expect(text).toMatch(/id="phone-error">Only the test numbers/);
    expect(text).toMatch(/value="12"\s+aria-invalid="true" aria-describedby="phone-error phone-hint"/);
  });

  test('is tied to the ways of paying', async () => {
    const page = await pages.open();
    const text = await (await page.post('pay', { phone: '0911000001' })).text();
    expect(text).toMatch(/role="radiogroup" aria-invalid="true" aria-describedby="channel-error"/);
    expect(text).toMatch(/id="channel-error">Choose one of the ways to pay\./);
    expect(text).toContain('value="0911000001"');
  });
});
