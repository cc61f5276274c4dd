import { HOUR_MS } from '../../src/lib/dates.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import type { UnitOfWork } from '../../src/outbox/record.ts';
import { acceptHeldPayment, returnHeldPayment } from '../../src/payments/holds.ts';
import type { PayoutOutcome, ProviderOutcome } from '../../src/providers/provider.ts';
import { markCredited, markFailed, markReturned, markSent } from '../../src/settlements/bank-results.ts';
import { approveSettlement, cancelSettlement, rejectSettlement } from '../../src/settlements/decide.ts';
import { bookLateCredit, dismissLateCredit } from '../../src/settlements/late-credit.ts';
import { createWithdrawal } from '../../src/withdrawals/create.ts';
import { readWithdrawal, type WithdrawalRow } from '../../src/withdrawals/queries.ts';
import { resolveWithdrawal, type Resolution } from '../../src/withdrawals/resolve.ts';
import { approveWithdrawal, cancelWithdrawal, rejectWithdrawal } from '../../src/withdrawals/review.ts';
import { createCheckPayout } from '../../src/withdrawals/sync.ts';
import { ACCEPTED, buildAttempt, buildPendingPayment, declined, PAID, type World } from '../support/build.ts';
import { ask } from '../support/settlements.ts';
import { UNKNOWN_PAYOUT, PAID_OUT, REFUSED, REVERSED, TAKEN } from '../support/withdrawals.ts';

type Lived = { world: World; row: WithdrawalRow };

/** Who decides, now. */
const by = (world: World) => ({ operatorId: 'opr_1', at: world.clock() });

/** Everything that may become of a withdrawal that is reviewed first, by what became of it. */
export const WITHDRAWAL_LIVES = {
  'under review': async () => {},
  rejected: async ({ world, row }: Lived) =>
    world.runInTransaction((tx) => rejectWithdrawal(tx, row.id, { ...by(world), reason: 'Not known.' })),
  cancelled: async ({ world, row }: Lived) => world.runInTransaction((tx) => cancelWithdrawal(tx, row, world.clock())),
  approved: async (lived: Lived) => approve(lived),
  'on its way': async (lived: Lived) => send(lived, TAKEN),
  'in doubt': async (lived: Lived) => send(lived, UNKNOWN_PAYOUT),
  paid: async (lived: Lived) => send(lived, paidOut(lived)),
  refused: async (lived: Lived) => send(lived, REFUSED),
  reversed: async (lived: Lived) => send(lived, paidOut(lived), reversed(lived)),
  'reversed at once': async (lived: Lived) => send(lived, reversed(lived)),
  'paid less': async (lived: Lived) => resolve(lived, -5_01n),
  'paid more': async (lived: Lived) => resolve(lived, 7_77n),
  'paid less and reversed': async (lived: Lived) => {
    await resolve(lived, -3_33n);
    await hear(lived, reversed(lived, -3_33n));
  },
  'not paid, says an operator': async (lived: Lived) => {
    await send(lived, UNKNOWN_PAYOUT);
    // Until then it may still turn out to be paid.
    lived.world.pass(2 * HOUR_MS);
    await say(lived, { outcome: 'FAILED', providerReference: `CASE-${lived.row.id}`, reason: 'Never paid.' });
  },
  'paid after it had failed': async (lived: Lived) => {
    await send(lived, REFUSED, paidOut(lived));
    await say(lived, paidWord(lived));
  },
} as const;

/** It says that it has paid: so much more than asked for. */
function paidOut({ row }: Lived, moreSantim = 0n): PayoutOutcome {
  return { ...PAID_OUT, amountSantim: row.amountSantim + moreSantim, providerReference: `OUT-${row.id}` };
}

/** It sends back what it has paid: so much more than asked for. */
function reversed({ row }: Lived, moreSantim = 0n): PayoutOutcome {
  return { ...REVERSED, amountSantim: row.amountSantim + moreSantim };
}

async function approve({ world, row }: Lived): Promise<void> {
  await world.runInTransaction((tx) => approveWithdrawal(tx, row.id, by(world)));
}

/** Approved, sent, and then answered so, one answer after the other. */
async function send(lived: Lived, ...answers: PayoutOutcome[]): Promise<void> {
  await approve(lived);
  for (const answer of answers) await hear(lived, answer);
}

async function hear({ world, row }: Lived, answer: PayoutOutcome): Promise<void> {
  world.provider.returnsForPayouts(answer);
  await createCheckPayout(world)(row.id, { minIntervalMs: 0, proof: true, notifyWorkflow: false });
}

async function say({ world, row }: Lived, resolution: Resolution): Promise<void> {
  await world.runInTransaction((tx) => resolveWithdrawal(tx, row.id, { ...resolution, ...by(world) }));
}

function paidWord({ row }: Lived): Resolution {
  return { outcome: 'COMPLETED', providerReference: `OUT-${row.id}`, reason: 'The receipt says so.' };
}

/** Its provider says that it has paid so much more than asked for, and an operator says so too. */
async function resolve(lived: Lived, moreSantim: bigint): Promise<void> {
  await send(lived, paidOut(lived, moreSantim));
  await say(lived, { ...paidWord(lived), paidSantim: lived.row.amountSantim + moreSantim });
}

type Paying = { world: World; scope: MerchantScope; sessionId: string; transactionId: string; first: string };

/** Everything that may become of a payment of 100.50 ETB, and of money that came with it. */
export const PAYMENT_LIVES = {
  pending: async () => {},
  paid: async ({ world, first }: Paying) => payWith(world, first, PAID),
  declined: async ({ world, first }: Paying) => payWith(world, first, declined(false)),
  held: async ({ world, first }: Paying) => payWith(world, first, { ...PAID, amountSantim: 80_01n }),
  'held, and accepted': async (paying: Paying) => {
    await payWith(paying.world, paying.first, { ...PAID, amountSantim: 80_01n });
    await accept(paying);
  },
  'paid twice': async (paying: Paying) => payTwice(paying),
  'paid twice, and accepted': async (paying: Paying) => {
    await payTwice(paying);
    await accept(paying);
  },
  'paid twice, and returned': async (paying: Paying) => {
    await payTwice(paying);
    const { world, transactionId, first: attemptId } = paying;
    const returned = { transactionId, attemptId, at: world.clock(), reason: 'Twice.', reference: `BACK-${attemptId}` };
    await world.runInTransaction((tx) => returnHeldPayment(tx, returned));
  },
} as const;

async function payWith(world: World, attemptId: string, ...answers: ProviderOutcome[]): Promise<void> {
  for (const answer of answers) {
    world.provider.returns(answer);
    await world.checkAttempt(attemptId, { notifyWorkflow: false });
  }
}

/** The first try is declined, the second paid, and then the first one as well. */
async function payTwice({ world, scope, sessionId, first }: Paying): Promise<void> {
  await payWith(world, first, declined(true));
  const second = await buildAttempt(world, { ...scope, sessionId });
  await payWith(world, second, ACCEPTED, PAID);
  await payWith(world, first, PAID);
}

async function accept({ world, transactionId, first: attemptId }: Paying): Promise<void> {
  await world.runInTransaction((tx) => acceptHeldPayment(tx, { transactionId, attemptId, at: world.clock() }));
}

/** A payment that its provider has taken, and all that becomes of it. */
export async function livePayment(world: World, scope: MerchantScope, life: keyof typeof PAYMENT_LIVES): Promise<void> {
  const { sessionId, transactionId, attemptId: first } = await buildPendingPayment(world, scope);
  await PAYMENT_LIVES[life]({ world, scope, sessionId, transactionId, first });
  world.pass(1_000);
}

export type WithdrawalLife = {
  life: keyof typeof WITHDRAWAL_LIVES;
  amountSantim: bigint;
  channel: 'TELEBIRR' | 'CBE_BIRR';
};

let made = 0;

/** A withdrawal to somebody new, so that it is reviewed, and all that becomes of it. */
export async function liveWithdrawal(
  world: World,
  scope: MerchantScope,
  { life, ...wanted }: WithdrawalLife,
): Promise<void> {
  made += 1;
  const phone = `2519${String(10_000_000 + made)}`;
  const asked = {
    ...wanted,
    requestId: `LIFE-${made}`,
    destination: { kind: 'phone', phone, accountName: `Payee ${made}` },
    requestedBy: 'key_test',
  } as const;
  const { row } = await world.runInTransaction((tx) => createWithdrawal({ ...world, tx }, scope, asked));
  await WITHDRAWAL_LIVES[life]({ world, row });
  const { stage } = await readWithdrawal(world.db, row.id);
  if (life === 'under review' && stage !== 'UNDER_REVIEW') throw new Error(`it is ${stage}`);
}

type Step = (tx: UnitOfWork, id: string, by: { operatorId: string; at: Date }) => Promise<unknown>;

const approved: Step = (tx, id, by) => approveSettlement(tx, id, by);
const sent: Step = (tx, id, by) => markSent(tx, id, by);
const credited: Step = (tx, id, by) => markCredited(tx, id, { ...by, bankReference: `FT-${id}`, creditedAt: by.at });
const failed: Step = (tx, id, by) => markFailed(tx, id, { ...by, reason: 'Closed.' });
const returned: Step = (tx, id, by) => markReturned(tx, id, { ...by, reason: 'Dormant.', bankReference: `R-${id}` });

/** Everything that may become of a settlement, step by step. */
export const SETTLEMENT_LIVES = {
  requested: [],
  rejected: [(tx, id, by) => rejectSettlement(tx, id, { ...by, reason: 'Not now.' })],
  cancelled: [(tx, id, by) => cancelSettlement(tx, { id }, { keyId: 'key_test', at: by.at })],
  approved: [approved],
  'not sent': [approved, failed],
  'on its way': [approved, sent],
  credited: [approved, sent, credited],
  refused: [approved, sent, failed],
  returned: [approved, sent, credited, returned],
  'credited late': [approved, sent, failed, credited],
  'credited late, and booked': [approved, sent, failed, credited, bookLateCredit],
  'credited late, and dismissed': [
    approved,
    sent,
    failed,
    credited,
    (tx, id, by) => dismissLateCredit(tx, id, { ...by, reason: 'None.' }),
  ],
} as const satisfies Record<string, readonly Step[]>;

export type SettlementLife = { life: keyof typeof SETTLEMENT_LIVES; amountSantim: bigint };

/** A settlement, and all that becomes of it. */
export async function liveSettlement(world: World, scope: MerchantScope, wanted: SettlementLife): Promise<void> {
  const { id } = await ask(world, scope, { amount: wanted.amountSantim });
  for (const step of SETTLEMENT_LIVES[wanted.life]) await world.runInTransaction((tx) => step(tx, id, by(world)));
}
