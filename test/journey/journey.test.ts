import { addisDay } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import { verifyWebhook } from '../../src/sdk/verify-webhook.ts';
import { APPLICATION } from '../merchants/kyc/fixture.ts';
import { SANDBOX_TELEBIRR } from '../support/sandbox-accounts.ts';
import { until } from '../support/until.ts';
import { createClient, type Client } from './client.ts';
import { foundCompany, SHOP, type Company } from './company.ts';
import { readHistories } from './histories.ts';

/** The path of docs/operations/going-to-production.md, in its order: each test continues where the one before has ended. */
let company: Company;
let client: Client;
let merchant = '';
let webhookSecret = '';
const today = () => addisDay(new Date());
/** The journey may cross midnight in Addis Ababa. */
const firstDay = today();
type Day = { day: string; isRunning: boolean; comparedAt: string | null };

beforeAll(async () => {
  company = await foundCompany();
  client = createClient(company);
  await company.start();
}, 120_000);
afterAll(() => company.close(), 60_000);

/** The events of a type that have arrived at the merchant's server, each once, with their signatures verified. */
const received = async (event: string, count = 1) =>
  until(`${count} ${event}`, () => {
    const all = company.receiver.requests.map(({ body, headers }) =>
      verifyWebhook(body, headers, { secret: webhookSecret, toleranceSeconds: 300 }),
    );
    const found = new Map(all.filter((one) => one.event === event).map((one) => [one.event_id, one]));
    return found.size >= count && [...found.values()];
  });

test('doctor finds nothing wrong', async () => {
  const findings: { status: string }[] = JSON.parse(await company.meskot(['doctor', '--json']));
  expect(findings.filter(({ status }) => status === 'wrong')).toEqual([]);
});

test('the first admin comes from the shell of the server, other operators by invitation', async () => {
  const admin = ['operators', 'create', '--admin', '--name', 'Sara Bekele', '--email', 'sara@example.et', '--json'];
  const { secret }: { secret: string } = JSON.parse(await company.meskot(admin));
  client.keys.sara = secret;
  type Invited = { invitation: { token: string } };
  const dawit = ['--name', 'Dawit Alemu', '--email', 'dawit@example.et', '--role', 'admin'];
  const second = await client.asOperator<Invited>('sara', 'operators', 'create', ...dawit);
  await client.acceptInvitation('dawit', second.invitation.token);
  const hana = { name: 'Hana Tesfaye', email: 'hana@example.et', role: 'finance' };
  const third = await client.ok<Invited>('dawit', 'POST /api/ops/operators', hana);
  await client.acceptInvitation('hana', third.invitation.token);
  expect(Object.values(client.keys).slice(0, 3)).toEqual(Array(3).fill(expect.stringMatching(/^ok_/)));
});

test('a merchant accepts its keys; the live one waits for the verification', async () => {
  const created = await client.asOperator('sara', 'merchants', 'create', '--name', 'Abyssinia Coffee');
  merchant = String(created['merchantId']);
  for (const environment of ['sandbox', 'live'] as const) {
    const path = `/api/ops/merchants/${merchant}/key-invitations`;
    const { token } = await client.ok('sara', `POST ${path}`, { environment });
    await client.acceptInvitation(environment, token);
  }
  expect(await client.refusal('live', 'GET /api/checkout/balance')).toMatchObject({
    status: 403,
    code: 'KYC_REQUIRED',
  });
  await client.untilPaid(
    'sandbox',
    await client.startPayment('sandbox', { no: 'TRIAL-1', amount: 70, phone: '0911000001' }),
  );
});

test('an application is approved by an operator who did not invite the merchant, and the live key works', async () => {
  await client.ok('live', 'PUT /api/checkout/kyc', APPLICATION);
  for (const kind of ['TRADE_LICENCE', 'TIN_CERTIFICATE', 'OWNER_ID', 'BANK_LETTER']) {
    const headers = { 'content-type': 'application/pdf' };
    const request = { key: client.keys.live, body: Buffer.from(`%PDF-1.7 ${kind}`), headers };
    expect((await company.send('POST', `/api/checkout/kyc/documents?kind=${kind}`, request)).status).toBe(201);
  }
  await client.ok('live', 'POST /api/checkout/kyc/submit', {});
  const approve = { environment: 'live', submission: 1 };
  const path = `/api/ops/merchants/${merchant}/kyc/approve`;
  expect(await client.refusal('sara', `POST ${path}`, approve)).toMatchObject({
    status: 409,
    message: expect.stringContaining('another operator has to approve it'),
  });
  await client.ok('dawit', `POST ${path}`, approve);
  await until('the live key', async () => (await client.call('live', 'GET /api/checkout/balance')).status === 200);
  expect(await client.ok('live', 'GET /api/checkout/balance')).toMatchObject({
    environment: 'live',
    available: 0,
    total: 0,
  });
});

test('a channel is used in live once an operator has approved it and the merchant has switched it on', async () => {
  const path = '/api/checkout/channels/TELEBIRR';
  const session = { checkoutOrderNo: 'EARLY', amount: 10, currency: 'ETB', channels: ['TELEBIRR'] };
  expect(await client.refusal('live', 'POST /api/checkout/sessions', session)).toMatchObject({
    status: 403,
    message: expect.stringContaining('is not approved for this merchant'),
  });
  expect(await client.ok('live', `PATCH ${path}`, { enabled: true })).toMatchObject({
    approval: 'REQUESTED',
    usable: false,
  });
  await client.asOperator('dawit', 'channels', 'approve', merchant, 'TELEBIRR', '--environment', 'live');
  expect(await client.ok('live', `PATCH ${path}`, { enabled: true })).toMatchObject({
    approval: 'APPROVED',
    usable: true,
  });
});

test('webhooks go to a public https address only', async () => {
  const path = '/api/checkout/webhooks/subscriptions';
  const near = { url: `https://localhost:${company.receiver.port}/meskot`, eventTypes: ['*'] };
  expect(await client.refusal('live', `POST ${path}`, near)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
  const there = { url: `https://${SHOP.host}/meskot`, eventTypes: ['*'] };
  const { secret = '' } = await client.ok('live', `POST ${path}`, there);
  webhookSecret = secret;
});

test('a customer pays on the page of the provider, and the webhook arrives with a valid signature', async () => {
  const payment = await client.startPayment('live', { no: 'LIVE-1', amount: 1_000, phone: '0922334455' });
  expect(payment.redirectUrl.startsWith(String(company.settings['TELEBIRR_PAY_PAGE_URL']))).toBe(true);
  expect(await client.statusOf('live', payment)).toBe('PENDING');
  expect(await client.confirmOnPage(payment)).toMatchObject({
    status: 303,
    location: `${company.url}/checkout/${payment.sessionId}`,
  });
  await client.untilPaid('live', payment);
  const [event] = await received('payment.succeeded');
  expect(event?.data).toMatchObject({ transactionId: payment.transactionId, amount: 1_000, environment: 'live' });
  expect(company.receiver.requests[0]).toMatchObject({ servername: SHOP.host, path: '/meskot' });
  const order = await company.live.orderOf(payment.attemptId);
  expect(order).toMatchObject({ paid: true, callbacks: [{ sends: [{ status: 200 }] }] });
});

test('API and worker are killed between the money and its confirmation: nothing is lost or paid twice', async () => {
  const policy = { largeAmount: 100, twoPersonAmount: 200, perHourMax: 5, reason: 'New merchant' };
  const { proposalId } = await client.ok('sara', `PUT /api/ops/merchants/${merchant}/review-policy`, policy);
  expect((await client.call('sara', `POST /api/ops/proposals/${proposalId}/confirm`, {})).status).toBe(409);
  await client.ok('dawit', `POST /api/ops/proposals/${proposalId}/confirm`, {});
  const destination = { phone: '0911000001', accountName: 'Abebe Bikila' };
  const wanted = { requestId: 'PAYROLL-1', amount: 300, channel: 'TELEBIRR', destination };
  const { withdrawalRequestId: id = '' } = await client.ok('live', 'POST /api/checkout/withdrawal', wanted);
  const approve = `/api/ops/withdrawals/${id}/approve`;
  expect((await client.call('sara', `POST ${approve}`, {})).status).toBe(409);
  await client.ok('dawit', `POST ${approve}`, {});
  expect((await client.call('dawit', `POST ${approve}`, {})).status).toBe(409);
  const payment = await client.startPayment('live', { no: 'LIVE-2', amount: 500, phone: '0922334456' });
  // The provider pays, and its answer is lost.
  await company.live.fault({ kind: 'hangAfter', on: 'payout', channel: 'TELEBIRR', next: 1 });
  await client.asOperator('hana', 'withdrawals', 'approve', id, '--environment', 'live', '--yes');
  await until('the payout at the provider', async () => company.live.payoutOf(id));
  await company.kill();

  await client.confirmOnPage(payment);
  await until('the callback to be missed', async () =>
    (await company.live.orderOf(payment.attemptId))?.callbacks.some(({ sends }) => sends[0]?.status === 502),
  );
  await company.start();
  await client.untilPaid('live', payment);
  const ended = async () => (await client.ok('live', `GET /api/checkout/withdrawal/${id}`))['status'] !== 'PENDING';
  await until('the withdrawal to end', ended, 40_000);
  expect(await client.ok('live', `GET /api/checkout/withdrawal/${id}`)).toMatchObject({
    status: 'SUCCESS',
    amount: 300,
  });
  await Promise.all([received('payment.succeeded', 2), received('withdrawal.succeeded')]);

  const { orders, payouts, totals } = await company.live.journal();
  expect(payouts).toEqual([expect.objectContaining({ withdrawalId: id, paidAmount: '300.00', reversed: false })]);
  expect(orders.map(({ paidAmount }) => paidAmount)).toEqual(['1000.00', '500.00']);
  expect(totals.TELEBIRR).toMatchObject({ received: '1500.00', paidOut: '300.00' });
});

test('a settlement is approved by one operator, sent by another, and credited at the verified account', async () => {
  const account = { bankCode: 'CBE', accountNumber: '1000123456789', accountName: APPLICATION.legalName };
  const { bankAccountId } = await client.ok('live', 'PUT /api/checkout/bank-account', account);
  const wanted = { requestId: 'SETTLE-1', amount: 200 };
  expect(await client.refusal('live', 'POST /api/checkout/settlement', wanted)).toMatchObject({
    code: 'BANK_ACCOUNT_NOT_VERIFIED',
  });
  const verify = `/api/ops/merchants/${merchant}/bank-account/verify`;
  await client.ok('hana', `POST ${verify}`, { environment: 'live', bankAccountId });
  const { settlementId } = await client.ok('live', 'POST /api/checkout/settlement', wanted);
  const path = `/api/ops/settlements/${settlementId}`;
  await client.ok('dawit', `POST ${path}/approve`, {});
  expect((await client.call('dawit', `POST ${path}/sent`, {})).status).toBe(409);
  await client.ok('hana', `POST ${path}/sent`, { bankReference: 'FT26001' });
  const credit = { bankReference: 'FT26001', creditedOn: today(), amount: 200 };
  expect(await client.ok('hana', `POST ${path}/credited`, credit)).toMatchObject({ status: 'COMPLETED' });
  await received('settlement.completed');
});

test('a report has both payments, the day of the provider agrees, and the ledger is intact', async () => {
  const wanted = { kind: 'payments', period: 'custom', startDate: firstDay, endDate: today(), format: 'CSV' };
  const { reportId } = await client.ok('live', 'POST /api/checkout/reports', wanted);
  const path = `/api/checkout/reports/${reportId}`;
  await until('the report', async () => (await client.ok('live', `GET ${path}`))['status'] === 'READY');
  const { text } = await client.call('live', `GET ${path}/file`);
  expect(text).toContain('LIVE-1');
  expect(text).toContain('LIVE-2');
  expect(text).not.toContain('TRIAL-1');
  const lastDay = today();
  for (const day of new Set([firstDay, lastDay])) {
    const run = ['reconciliation', 'run', '--day', day, '--environment', 'live', '--channel', 'TELEBIRR'];
    await client.asOperator('hana', ...run);
    const compared = await until(`${day} to be compared`, async () => {
      const days = await client.ok<Day[]>('hana', 'GET /api/ops/reconciliation?environment=live&channel=TELEBIRR');
      return days.find((one) => one.day === day && !one.isRunning && one.comparedAt);
    });
    expect(compared).toMatchObject({ status: 'CLEAN', discrepancies: 0, ...(day === lastDay && { owed: 1_200 }) });
  }
  const checks: { holds: string }[] = JSON.parse(await company.meskot(['ledger', 'verify', '--json']));
  expect(checks.filter(({ holds }) => holds !== 'yes')).toEqual([]);
});

test('a callback that is signed with a key of the other environment changes nothing, and is recorded as refused', async () => {
  const open = {
    live: await client.startPayment('live', { no: 'LIVE-3', amount: 40, phone: '0922334455' }),
    sandbox: await client.startPayment('sandbox', { no: 'TRIAL-2', amount: 40, phone: '0911000004' }),
  };
  const orders = { live: await company.live.journal(), sandbox: await company.sandbox.journal() };
  const ids = (environment: 'live' | 'sandbox') => orders[environment].orders.map(({ attemptId }) => attemptId);
  expect(ids('live').filter((id) => ids('sandbox').includes(id))).toEqual([]);
  expect([ids('live').length, ids('sandbox').length]).toEqual([3, 2]);

  for (const [environment, { attemptId }] of Object.entries(open)) {
    const order = orders[environment as 'live'].orders.find((one) => one.attemptId === attemptId);
    const ofTheOther = environment === 'live' ? SANDBOX_TELEBIRR.providerPrivateKey : company.providerPrivateKey;
    await client.notify(order, ofTheOther);
  }
  expect([await client.statusOf('live', open.live), await client.statusOf('sandbox', open.sandbox)]).toEqual([
    'PENDING',
    'PENDING',
  ]);
  const refused = await rows<{ environment: string; reason: string }>(
    company.database.db,
    `SELECT a.environment, c.rejection_reason AS reason FROM provider_callback c JOIN payment_attempt a ON a.id = c.attempt_id
     WHERE NOT c.verified ORDER BY 1`,
    {},
  );
  const reason = "it is signed with the sandbox's keys, and the order is live";
  expect(refused).toEqual([
    { environment: 'live', reason },
    { environment: 'sandbox', reason: "it is signed with live's keys, and the order is of the sandbox" },
  ]);
  expect(company.output()).toContain(`"result":"refused","problem":"${reason}"`);
});

test('keys, balances, numbers and callback addresses of sandbox and live have nothing in common', async () => {
  const ofSandbox = await client.ok('sandbox', 'GET /api/checkout/balance');
  expect(ofSandbox).toMatchObject({ environment: 'sandbox', available: 67.99, feesToDate: 2.01 });
  expect(await client.ok('live', 'GET /api/checkout/balance')).toMatchObject({ reserved: 0, netSettled: 200 });
  const range = `startDate=${firstDay}&endDate=${today()}&status=ALL&currency=ETB`;
  const numbers = async (by: 'sandbox' | 'live') => {
    const path = `/api/checkout/txns/get_all_txns?${range}`;
    const list = await client.ok<{ checkoutOrderNo: string; transactionId: string }[]>(by, `GET ${path}`);
    return { ids: list.map((one) => one.transactionId), orders: list.map((one) => one.checkoutOrderNo).toSorted() };
  };
  const [sandbox, live] = [await numbers('sandbox'), await numbers('live')];
  expect([sandbox.orders, live.orders]).toEqual([
    ['TRIAL-1', 'TRIAL-2'],
    ['LIVE-1', 'LIVE-2', 'LIVE-3'],
  ]);
  for (const id of live.ids) {
    expect((await client.call('sandbox', `GET /api/checkout/txns/${id}`)).status).toBe(404);
  }
  const secrets = await rows<{ environment: string; secret: string }>(
    company.database.db,
    'SELECT environment, callback_secret AS secret FROM payment_attempt',
    {},
  );
  expect(new Set(secrets.map(({ secret }) => secret)).size).toBe(5);
  const sent = company.receiver.requests.map(({ body }) => body.toString());
  expect(sent.filter((body) => body.includes('TRIAL-') || sandbox.ids.some((id) => body.includes(id)))).toEqual([]);
});

test('no secret of a provider, key or webhook is in a log, a metric or a history of a workflow', async () => {
  const histories = await readHistories(String(company.settings['TASK_QUEUE_PREFIX']));
  expect(histories.length).toBeGreaterThan(5);
  const texts = { log: company.output(), metrics: await company.metrics(), histories: histories.join('\n') };
  expect(texts.log).toContain('request completed');
  expect(texts.metrics).toContain('meskot_temporal_reachable');
  const addresses = await rows<{ id: string; secret: string }>(
    company.database.db,
    `SELECT id, callback_secret AS secret FROM payment_attempt UNION ALL SELECT id, callback_secret FROM payout`,
    {},
  );
  const ofCallbacks = Object.fromEntries(addresses.map(({ id, secret }) => [`callback address of ${id}`, secret]));
  const secrets = { ...company.secrets, ...client.keys, ...ofCallbacks, webhookSecret };
  const found = Object.entries(secrets).flatMap(([what, secret]) =>
    Object.entries(texts).flatMap(([where, text]) => (text.includes(secret) ? [`${what} in ${where}`] : [])),
  );
  expect(found).toEqual([]);
});
