import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { buildPendingPayment, PAID } from '../support/build.ts';
import { requestSettlement, linkAccount, withdraw } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';
import { runCli, startBackOffice, type BackOffice } from './back-office.ts';

let backOffice: BackOffice;
let scope: MerchantScope;

beforeAll(async () => {
  backOffice = await startBackOffice();
});
beforeEach(async () => {
  scope = await buildFreeMerchant(backOffice.fixture);
});
afterAll(() => backOffice.close());

const run = (...args: string[]) => runCli(backOffice, args);
const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).text);
const queue = (...args: string[]) => run('work', 'list', '--merchant-id', scope.merchantId, ...args);
const queued = async (...args: string[]) => JSON.parse((await queue('--json', ...args)).text).items;

/** A held payment: its transaction, and the attempt that holds the money. */
async function held(): Promise<[string, string, string]> {
  const payment = await buildPendingPayment(backOffice.fixture, scope);
  backOffice.fixture.provider.returns({ ...PAID, amountSantim: 8_000n });
  await backOffice.fixture.checkAttempt(payment.attemptId, { notifyWorkflow: false });
  return [payment.transactionId, '--attempt-id', payment.attemptId];
}

async function moveTo(environment: 'sandbox' | 'live'): Promise<void> {
  for (const table of ['transaction', 'payment_attempt', 'checkout_session']) {
    await rows(
      backOffice.database.db,
      `UPDATE ${table} SET environment = :environment WHERE merchant_id = :merchantId`,
      {
        merchantId: scope.merchantId,
        environment,
      },
    );
  }
}

test('work list prints a table or JSON; a held payment in it is released and audited as the operator of the key', async () => {
  const payment = await held();
  const [transactionId] = payment;
  const { text, exitCode } = await queue();
  expect(exitCode).toBe(0);
  expect(text).toMatch(
    /^since \(EAT\) +kind +id +merchantName +amount \(ETB\) +what\n\d{4}-\d\d-\d\d \d\d:\d\d +PAYMENT_HELD +pat_\w+ +Abyssinia Coffee +80\.00 +txn_\w+: received 80.00 instead of 100.50/,
  );
  const { key, operatorId } = backOffice.people.support;
  const decided = await runCli(backOffice, ['payments', 'release', ...payment, '--yes', '--json'], { key });
  const released = { transactionId, status: 'SUCCESS', decision: 'ACCEPTED', received: 80 };
  expect(JSON.parse(decided.text)).toMatchObject(released);
  expect(await queued()).toEqual([]);
  expect((await queue()).notes).toContain('None.');
  const [entry] = await json('audit', 'list', '--resource-id', transactionId);
  expect(entry).toMatchObject({ action: 'payment.accept', operatorId });
});

test('work list --stalled lists what is stalled, by kinds that the error names', async () => {
  expect((await queue('--stalled', '--json')).text).toContain('"items": []');
  const unknown = await queue('--stalled', '--kind', 'KYC');
  expect([unknown.exitCode, unknown.notes]).toEqual([2, expect.stringContaining('kind must be one of')]);
});

test('payments return needs a reason and a reference', async () => {
  const payment = await held();
  const back = ['payments', 'return', ...payment, '--yes'];
  expect((await run(...back, '--reference', 'RET-1')).notes).toContain("'--reason <Checked by phone>' not specified");
  expect((await run(...back, '--reason', 'Too little')).notes).toContain("'--reference <RET-1>' not specified");
  const returned = await json(...back, '--reason', 'Too little', '--reference', 'RET-1');
  expect(returned).toMatchObject({ status: 'FAILED', decision: 'RETURNED', reference: 'RET-1' });
});

test('a wrong key or role exits 3, an unknown id 4, a missing option 2, and nothing is audited', async () => {
  const payment = await held();
  const [transactionId] = payment;
  const release = ['payments', 'release', ...payment, '--yes'];
  const refused = await runCli(backOffice, release, { key: backOffice.people.viewer.key });
  expect([refused.exitCode, refused.notes]).toEqual([
    3,
    expect.stringContaining('role support or finance or admin; this one is viewer'),
  ]);
  expect(refused.notes).toMatch(
    /INSUFFICIENT_SCOPE \(403\), environment sandbox, http:\S+, request req_\w+\nNext: use/,
  );
  const wrong = await runCli(backOffice, release, { key: 'ok_wrong' });
  expect([wrong.exitCode, wrong.notes]).toEqual([3, expect.stringContaining('set MESKOT_OPERATOR_KEY')]);
  const unknown = await run('payments', 'release', newId('txn'), '--attempt-id', newId('pat'), '--yes');
  expect([unknown.exitCode, unknown.notes]).toEqual([4, expect.stringContaining('NOT_FOUND (404)')]);
  expect((await run('payments', 'release', transactionId)).exitCode).toBe(2);
  expect((await run('payments', 'release')).exitCode).toBe(2);
  expect((await run('withdrawals', 'approve', transactionId, '--yes')).exitCode).toBe(4);
  expect(await backOffice.audited(transactionId)).toEqual([]);
});

test('a command that moves money asks for confirmation, and without a terminal needs --yes', async () => {
  const [transactionId, ...attempt] = await held();
  const release = ['payments', 'release', transactionId, ...attempt];
  const unconfirmed = await run(...release);
  expect([unconfirmed.exitCode, unconfirmed.notes]).toEqual([
    2,
    expect.stringContaining('Nothing was done: add --yes'),
  ]);
  const no = await runCli(backOffice, release, { answer: 'n' });
  expect([no.exitCode, no.questions]).toEqual([
    1,
    [`Confirm "payments release ${transactionId}" (sandbox, 80.00 ETB)? [y/N] `],
  ]);
  expect(await backOffice.audited(transactionId)).toEqual([]);
  expect((await runCli(backOffice, release, { answer: 'y' })).exitCode).toBe(0);
  expect(await backOffice.audited(transactionId)).toEqual(['payment.accept']);
});

test('nothing live is decided or listed without --environment live', async () => {
  const payment = await held();
  const [transactionId] = payment;
  await moveTo('live');
  const listed = await queue();
  expect([listed.text, listed.notes]).toEqual([
    '',
    expect.stringContaining('1 more are live: add --environment live.'),
  ]);
  expect(await queued('--environment', 'live')).toHaveLength(1);
  const back = ['payments', 'return', ...payment, '--reason', 'x', '--reference', 'y', '--yes'];
  const refused = await run(...back);
  expect([refused.exitCode, refused.notes]).toEqual([2, expect.stringContaining('is live: add --environment live')]);
  expect(await backOffice.audited(transactionId)).toEqual([]);
  expect(await queued('--environment', 'live')).toHaveLength(1);
  // Moved back: the ledger's journal of it is the sandbox's.
  await moveTo('sandbox');
  expect((await run(...back, '--environment', 'live')).notes).toContain('is in the sandbox: add --environment sandbox');
});

test('a linked bank account is verified by its id, and rejected later', async () => {
  const { merchantId } = scope;
  await linkAccount(backOffice.fixture, scope);
  const [account] = await rows<{ id: string }>(
    backOffice.database.db,
    `UPDATE bank_account SET status = 'PENDING', decided_by = NULL, decided_at = NULL, verified_at = NULL WHERE merchant_id = :merchantId
     RETURNING id`,
    { merchantId },
  );
  const id = account?.id ?? '';
  const verify = ['bank-accounts', 'verify', merchantId, '--bank-account-id'];
  expect(await json(...verify, id)).toMatchObject({ bankAccountId: id, status: 'VERIFIED' });
  expect(await json('bank-accounts', 'get', merchantId)).toMatchObject({ bankAccountId: id, status: 'VERIFIED' });
  expect((await run('bank-accounts', 'get', merchantId, '--environment', 'live')).exitCode).toBe(4);
  expect((await run(...verify, newId('bac'))).exitCode).toBe(1);
  const reject = ['bank-accounts', 'reject', merchantId, '--bank-account-id', id, '--reason', 'Sold since'];
  expect(await json(...reject)).toMatchObject({ status: 'REJECTED' });
  expect((await run(...verify, id)).exitCode).toBe(1);
  expect(await backOffice.audited(id)).toEqual(['bank-account.verify', 'bank-account.reject']);
});

test('an application is approved by the number of the submission that was read, and not a later one', async () => {
  const { merchantId } = scope;
  await rows(
    backOffice.database.db,
    `INSERT INTO kyc_application (merchant_id, environment, status, submissions, submitted_at)
     VALUES (:merchantId, 'live', 'SUBMITTED', 2, now())`,
    { merchantId },
  );
  expect((await queue('--environment', 'live')).text).toContain('KYC application to decide (submission 2)');
  const approve = ['kyc', 'approve', merchantId, '--environment', 'live'];
  expect((await run(...approve)).notes).toContain("'--submission <1>' not specified");
  expect((await run(...approve, '--submission', 'two')).notes).toContain('It must be a whole number.');
  const unread = await run(...approve, '--submission', '1');
  expect([unread.exitCode, unread.notes]).toEqual([1, expect.stringContaining('submitted again meanwhile')]);
  expect(unread.notes).toContain(`Next: "meskot kyc get ${merchantId}" shows the current state.`);
  expect(await json(...approve, '--submission', '2')).toMatchObject({ status: 'APPROVED', tier: 2 });
  const rejected = ['kyc', 'reject', merchantId, '--environment', 'live', '--submission', '2', '--reason', 'x'];
  expect((await run(...rejected)).exitCode).toBe(1);
  expect(await backOffice.audited(merchantId)).toEqual(['kyc.approve']);
});

test('a withdrawal whose provider reports no outcome is resolved', async () => {
  await fund(backOffice.fixture, scope, 1_000_00n);
  const { id } = await withdraw(backOffice.fixture, scope);
  await rows(backOffice.database.db, `UPDATE payout SET stage = 'UNKNOWN' WHERE id = :id`, { id });
  const why = ['--reason', 'Never paid', '--yes'];
  const resolve = ['withdrawals', 'resolve', id, ...why, '--outcome'];
  const reference = ['--provider-reference', 'CASE-7'];
  expect((await run(...resolve, 'PAID', ...reference)).notes).toContain('Allowed choices are COMPLETED, FAILED');
  expect((await run(...resolve, 'COMPLETED', '--paid-amount', 'all', ...reference)).exitCode).toBe(2);
  expect((await run(...resolve, 'FAILED')).notes).toContain("'--provider-reference <CASE-7>' not specified");
  expect(await backOffice.audited(id)).toEqual([]);
  expect(await json('withdrawals', 'get', id)).toMatchObject({ withdrawalId: id, stage: 'UNKNOWN' });
  expect((await run('withdrawals', 'get', newId('wd'))).exitCode).toBe(4);
  expect(await json(...resolve, 'FAILED', ...reference)).toMatchObject({ status: 'FAILED', othersNeeded: 0 });
  expect(await backOffice.audited(id)).toEqual(['withdrawal.resolve']);
});

test('a settlement is approved, sent and credited, and the bank is not believed twice', async () => {
  await linkAccount(backOffice.fixture, scope);
  await fund(backOffice.fixture, scope, 100_000n);
  const [paid, failed] = [
    (await requestSettlement(backOffice.fixture, scope)).id,
    (await requestSettlement(backOffice.fixture, scope)).id,
  ];
  const settle = (verb: string, id: string, ...args: string[]) => run('settlements', verb, id, ...args, '--yes');
  const settled = (verb: string, id: string, ...args: string[]) => json('settlements', verb, id, ...args, '--yes');
  expect((await settle('mark-sent', paid)).exitCode).toBe(1);
  for (const id of [paid, failed]) {
    expect(await settled('approve', id)).toMatchObject({ status: 'APPROVED', amount: 150 });
    expect(await settled('mark-sent', id)).toMatchObject({ status: 'PROCESSING' });
  }
  expect((await settle('mark-credited', paid)).notes).toContain("'--bank-reference <FT-1>' not specified");
  const credited = (id: string, ...args: string[]) => settle('mark-credited', id, '--bank-reference', 'FT-1', ...args);
  expect((await credited(paid, '--credited-on', 'today')).exitCode).toBe(2);
  expect((await credited(paid, '--amount', '150,5')).notes).toContain('It must be an amount such as 99.50.');
  const short = await credited(paid, '--amount', '149.50');
  expect([short.exitCode, short.notes]).toEqual([
    2,
    expect.stringContaining("must be the settlement's, 150.00 ETB, got 149.50"),
  ]);
  expect(JSON.parse((await credited(paid, '--amount', '150', '--json')).text)).toMatchObject({ status: 'COMPLETED' });
  expect(await settled('mark-failed', failed, '--reason', 'Account closed')).toMatchObject({ status: 'FAILED' });
  expect((await settle('mark-failed', paid, '--reason', 'Account closed')).exitCode).toBe(1);
  expect(await backOffice.audited(paid)).toEqual(['settlement.approve', 'settlement.sent', 'settlement.credited']);
  const why = ['--reason', 'Asked the bank'];
  expect((await settle('mark-returned', paid, ...why)).notes).toContain("'--bank-reference <FT-1>' not specified");
  const returned = await settled('mark-returned', paid, '--bank-reference', 'RT-1', ...why);
  expect(returned).toMatchObject({ status: 'FAILED' });
  const late = await settle('mark-credited', failed, '--bank-reference', 'FT-2');
  expect([late.exitCode, late.notes]).toEqual([0, expect.stringContaining('FT-2 is not booked. Book or dismiss it')]);
  expect(late.text).toMatch(/^status +FAILED$/m);
  expect(await settled('accept-late-credit', failed, ...why)).toMatchObject({ status: 'COMPLETED' });
  expect((await settle('dismiss-late-credit', failed, ...why)).exitCode).toBe(1);
});

test('a merchant is suspended and resumed only once it is confirmed', async () => {
  const { merchantId } = scope;
  expect((await run('merchants', 'suspend', merchantId, '--reason', 'Fraud')).exitCode).toBe(2);
  expect(await json('merchants', 'get', merchantId)).toMatchObject({ status: 'ACTIVE' });
  const suspended = await json('merchants', 'suspend', merchantId, '--reason', 'Fraud', '--yes');
  expect(suspended).toMatchObject({ status: 'SUSPENDED' });
  const resumed = await json('merchants', 'resume', merchantId, '--reason', 'A mistake', '--yes');
  expect(resumed).toMatchObject({ status: 'ACTIVE' });
  expect((await run('merchants', 'list')).text).toContain(merchantId);
});

test('channels are approved and suspended', async () => {
  const { merchantId } = scope;
  const suspend = ['channels', 'suspend', merchantId, 'CBE_BIRR'];
  expect((await run(...suspend)).notes).toContain('not specified');
  expect(await json(...suspend, '--reason', 'Asked for it')).toMatchObject({ usable: false });
  expect(await json('channels', 'approve', merchantId, 'CBE_BIRR')).toMatchObject({ approval: 'APPROVED' });
  expect((await run('channels', 'approve', merchantId, 'GOLD')).exitCode).toBe(2);
});

test('holidays are listed, added, rescheduled, confirmed, disabled, enabled and removed', async () => {
  const listed = await run('holidays', 'list', '--start-date', '2027-01-01', '--end-date', '2027-12-31');
  expect(listed.text).toMatch(/2027-01-07 +hol_GENNA2027 +closed +yes +yes +Genna/);
  const add = (date: string, ...name: string[]) => ['holidays', 'add', '--date', date, '--name', ...name];
  const { holidayId, kind } = await json(...add('2033-10-13', 'Election'));
  expect(kind).toBe('closed');
  const rescheduled = await json('holidays', 'reschedule', holidayId, '--date', '2033-10-14');
  expect(rescheduled).toMatchObject({ date: '2033-10-14' });
  expect(await json('holidays', 'disable', holidayId)).toMatchObject({ active: false });
  expect(await json('holidays', 'enable', holidayId)).toMatchObject({ active: true });
  expect(await json('holidays', 'confirm', holidayId)).toMatchObject({ confirmed: true });
  expect((await run('holidays', 'remove', holidayId, '--yes')).exitCode).toBe(0);
  expect((await run('holidays', 'reschedule', 'hol_none', '--date', '2033-10-14')).exitCode).toBe(4);
  expect((await run(...add('2033-13-01', 'Nothing'))).exitCode).toBe(2);
  expect((await run('holidays', 'list', '--start-date', '27')).exitCode).toBe(2);
  expect((await run(...add('2033-10-13', 'Bank', 'Holiday'))).notes).toContain('too many arguments');
});

test.each([
  [['withdrawals', 'aprove'], 'Did you mean approve?'],
  [['holidyas'], 'Did you mean holidays?'],
  [['work', 'list', 'all'], 'too many arguments'],
])('wrong usage exits 2 with the reason: meskot %j', async (args, reason) => {
  const { exitCode, notes } = await run(...args);
  expect([exitCode, notes]).toEqual([2, expect.stringContaining(reason)]);
});
