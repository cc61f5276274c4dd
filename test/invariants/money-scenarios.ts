import { HOUR_MS } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import { AppError } from '../../src/lib/errors.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import type { PayoutOutcome, ProviderOutcome } from '../../src/providers/provider.ts';
import { setReviewPolicy } from '../../src/withdrawals/review.ts';
import { createCheckPayout, type CheckPayout } from '../../src/withdrawals/sync.ts';
import { buildMerchant, buildWorld, type World } from '../support/build.ts';
import type { TestDatabase } from '../support/database.ts';
import { linkAccount } from '../support/settlements.ts';
import { expectedOf, type Books } from './money-model.ts';
import { planPayment } from './money-payments.ts';
import { planSettlement } from './money-settlements.ts';
import type { AuditContext, Step, Story } from './money-steps.ts';
import { planWithdrawal } from './money-withdrawals.ts';

const MONDAY = new Date('2027-01-18T06:00:00.000Z');

/** One merchant, its provider and its operators, with the books that are kept beside the ledger. */
export type Play = {
  world: World;
  checkPayout: CheckPayout;
  scope: MerchantScope;
  isSuspended: boolean;
  books: Books;
  /** Since the step began. */
  heard: { orderId: string; said: ProviderOutcome | PayoutOutcome }[];
  /** What never may happen and was seen while a provider was asked. */
  wrong: string[];
};

/** One deed on the real operations. */
export type Act = {
  /** Whether it changed, or asked, anything. */
  call: () => Promise<boolean>;
  /** Whether it must; null where the books cannot say. */
  may: boolean | null;
  /** The same in the books. */
  note: () => void;
  /** Said once more it may change something else after all. */
  isFree?: boolean;
};

export async function newPlay({ db }: TestDatabase): Promise<Play> {
  const world = buildWorld(db, { start: MONDAY });
  const scope = await buildMerchant(db);
  const { merchantId } = scope;
  await linkAccount(world, scope);
  // The clock goes back now and then, but not to before the account was there.
  world.pass(HOUR_MS);
  await db.transaction((trx) =>
    setReviewPolicy(trx, { merchantId, largeAmountSantim: 200_00n, twoPersonSantim: 500_00n, perHourMax: 20 }),
  );
  const books = { payments: [], outs: [], settlements: [] };
  return { world, checkPayout: createCheckPayout(world), scope, isSuspended: false, books, heard: [], wrong: [] };
}

/** Does all steps; after each the balance is what the books say, and what changed nothing has left no trace. */
export async function playAll(play: Play, { begin, steps }: Story): Promise<void> {
  for (const context of begin) await doFirst(play, context);
  let before = await traceOf(play);
  for (const step of steps) {
    play.heard = [];
    const act = plan(play, step);
    if (!act) continue;
    const changed = await isDone(act);
    if (act.may !== null) expect({ step, changed }).toEqual({ step, changed: act.may });
    if (changed) act.note();
    const after = await traceOf(play);
    if (!changed) expect({ step, trace: after }).toEqual({ step, trace: before });
    expectBalance(after, play, step);
    if (step.twice && !act.isFree) {
      if (await isDone(act)) act.note();
      expect({ again: step, trace: await traceOf(play) }).toEqual({ again: step, trace: after });
    }
    expect(play.wrong).toEqual([]);
    before = after;
  }
}

async function doFirst(play: Play, context: AuditContext): Promise<void> {
  const act = plan(play, { ...context, twice: false });
  if (!act || !(await act.call())) throw new Error(`nothing came of ${JSON.stringify(context)}`);
  act.note();
  play.heard.length = 0;
}

function plan(play: Play, step: Step): Act | null {
  return planPayment(play, step) ?? planWithdrawal(play, step) ?? planSettlement(play, step);
}

/** false: refused, as people are, or nothing was left to do. Whatever else is thrown is a bug. */
async function isDone(act: Act): Promise<boolean> {
  try {
    return await act.call();
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

type Balances = Pick<ReturnType<typeof expectedOf>, 'available' | 'reserved' | 'fees' | 'settled'>;
type Trace = { rows: string; enqueued: number } & { [key in keyof Balances]: bigint | null };

function expectBalance(trace: Trace, { books }: Play, step: Step): void {
  const { rows: _, enqueued: __, ...found } = trace;
  const { available, reserved, fees, settled } = expectedOf(books);
  // Who never had any has no balance.
  if (found.available === null && available === 0n) return;
  expect({ step, ...found }).toEqual({ step, available, reserved, fees, settled });
}

/** Every row of the merchant's, but for when its providers were asked, as one text: the same when nothing has changed. */
async function traceOf({ world, scope }: Play): Promise<Trace> {
  const [trace] = await rows<Omit<Trace, 'enqueued'>>(
    world.db,
    `WITH outs AS (SELECT * FROM withdrawal WHERE merchant_id = :merchantId),
          paid AS (SELECT * FROM transaction WHERE merchant_id = :merchantId),
          tries AS (SELECT a.* FROM payment_attempt a WHERE a.transaction_id IN (SELECT id FROM paid)),
          settled AS (SELECT * FROM settlement WHERE merchant_id = :merchantId),
          taken AS (SELECT * FROM bank_receipt WHERE withdrawal_id IN (SELECT id FROM outs)),
          ids AS (SELECT id FROM outs UNION ALL SELECT id FROM paid UNION ALL SELECT id FROM settled UNION ALL SELECT id FROM taken)
     SELECT md5(string_agg(line, ' ' ORDER BY line)) AS rows, max(available_santim) AS available,
            max(reserved_santim) AS reserved, max(fees_santim) AS fees, max(settled_santim) AS settled
     FROM (
       SELECT (to_jsonb(o) - 'lease_until' - 'last_checked_at')::text AS line FROM outs o
       UNION ALL SELECT to_jsonb(p)::text FROM paid p
       UNION ALL SELECT (to_jsonb(a) - 'lease_until' - 'last_checked_at')::text FROM tries a
       UNION ALL SELECT to_jsonb(s)::text FROM settled s
       UNION ALL SELECT to_jsonb(t)::text FROM taken t
       UNION ALL SELECT to_jsonb(s)::text FROM checkout_session s WHERE s.transaction_id IN (SELECT id FROM paid)
       UNION ALL SELECT to_jsonb(l)::text FROM timeline l WHERE l.resource_id IN (SELECT id FROM ids)
       UNION ALL SELECT to_jsonb(l)::text FROM withdrawal_approval l WHERE l.withdrawal_id IN (SELECT id FROM outs)
       UNION ALL SELECT to_jsonb(c)::text FROM payout_case c WHERE c.withdrawal_id IN (SELECT id FROM outs)
       UNION ALL SELECT to_jsonb(l)::text FROM withdrawal_resolution l WHERE l.withdrawal_id IN (SELECT id FROM outs)
       UNION ALL SELECT e.id FROM webhook_event e WHERE e.merchant_id = :merchantId AND e.environment = 'sandbox'
       UNION ALL SELECT j.posting_key || j.kind FROM ledger_journal j WHERE j.resource_id IN (SELECT id FROM ids)
       UNION ALL SELECT to_jsonb(b)::text FROM ledger_balance b WHERE b.merchant_id = :merchantId
       UNION ALL SELECT m.status FROM merchant m WHERE m.id = :merchantId) each
     LEFT JOIN ledger_balance ON merchant_id = :merchantId`,
    { ...scope },
  );
  if (!trace) throw new Error('the merchant is gone');
  return { ...trace, enqueued: world.enqueued.length };
}

/** At the end: every row stands where the books say, and so does each account, whose entries are in the order of time. */
export async function expectBooks(play: Play): Promise<void> {
  const { world, scope, books } = play;
  await expectOrderOfTime(play);
  const found = await rows<{ id: string; status: string }>(
    world.db,
    `SELECT id, status FROM withdrawal WHERE merchant_id = :merchantId
     UNION ALL SELECT id, status FROM settlement WHERE merchant_id = :merchantId`,
    { ...scope },
  );
  const enqueued = [...books.outs, ...books.settlements].map(({ id, status }) => ({ id, status }));
  const byId = (one: { id: string }, other: { id: string }): number => (one.id < other.id ? -1 : 1);
  expect(found.toSorted(byId)).toEqual(enqueued.toSorted(byId));
  const accounts = await rows<{ kind: string; santim: bigint }>(
    world.db,
    `SELECT a.kind, CAST(sum(e.amount_santim) AS bigint) AS santim
     FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
     WHERE j.merchant_id = :merchantId OR j.resource_id IN (
       SELECT m.id FROM bank_receipt m JOIN withdrawal w ON w.id = m.withdrawal_id WHERE w.merchant_id = :merchantId)
     GROUP BY a.kind`,
    { ...scope },
  );
  const of = (kind: string): bigint => accounts.find((account) => account.kind === kind)?.santim ?? 0n;
  const expected = expectedOf(books);
  expect({
    available: of('AVAILABLE'),
    reserved: of('RESERVED'),
    fees: of('FEE_REVENUE') + of('TAX_PAYABLE'),
    settled: of('BANK'),
    suspense: of('SUSPENSE'),
    providerOwes: -of('CHANNEL_CLEARING'),
  }).toEqual(expected);
}

/** Each entry is of its fact's time, or of the latest before it where a clock was behind. */
async function expectOrderOfTime({ world, scope }: Play): Promise<void> {
  const outOfOrder = await rows(
    world.db,
    `SELECT * FROM (
       SELECT j.posting_key, e.effective_at, max(j.effective_at) OVER (ORDER BY e.sequence) AS expected
       FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id
       WHERE j.merchant_id = :merchantId AND e.sequence IS NOT NULL) each
     WHERE effective_at <> expected`,
    { merchantId: scope.merchantId },
  );
  expect(outOfOrder).toEqual([]);
}
