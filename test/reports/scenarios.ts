import { HOUR_MS } from '../../src/lib/dates.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import type { UnitOfWork } from '../../src/outbox/record.ts';
import { acceptHeldPayment, returnHeldPayment } from '../../src/payments/holds.ts';
import type { PayoutOutcome, ProviderOutcome } from '../../src/providers/provider.ts';
import {
  bookLateCredit,
  dismissLateCredit,
  markCredited,
  markFailed,
  markReturned,
  markSent,
} from '../../src/settlements/bank-results.ts';
import { approveSettlement, cancelSettlement, rejectSettlement } from '../../src/settlements/decide.ts';
import { createWithdrawal } from '../../src/withdrawals/create.ts';
import { readWithdrawal, type WithdrawalRow } from '../../src/withdrawals/queries.ts';
import { resolveWithdrawal, type Resolution } from '../../src/withdrawals/resolve.ts';
import { approveWithdrawal, cancelWithdrawal, rejectWithdrawal } from '../../src/withdrawals/review.ts';
import { createCheckPayout } from '../../src/withdrawals/sync.ts';
import { ACCEPTED, buildAttempt, buildPendingPayment, declined, PAID, type World } from '../support/build.ts';
import { requestSettlement } from '../support/settlements.ts';
import { UNKNOWN_PAYOUT, PAID_OUT, REFUSED, REVERSED, TAKEN } from '../support/withdrawals.ts';

type Play = { world: World; row: WithdrawalRow };

/** The operator who decides, and the time. */
const by = (world: World) => ({ operatorId: 'opr_1', at: world.clock() });

/** Every way in which a withdrawal that is reviewed may go. */
export const WITHDRAWAL_SCENARIOS = {
  'under review': async () => {},
  rejected: async ({ world, row }: Play) =>
    world.runInTransaction((tx) => rejectWithdrawal(tx, row.id, { ...by(world), reason: 'Not known.' })),
  cancelled: async ({ world, row }: Play) => world.runInTransaction((tx) => cancelWithdrawal(tx, row, world.clock())),
  approved: async (play: Play) => approve(play),
  processing: async (play: Play) => send(play, TAKEN),
  'unknown outcome': async (play: Play) => send(play, UNKNOWN_PAYOUT),
  paid: async (play: Play) => send(play, paidOut(play)),
  'rejected by the provider': async (play: Play) => send(play, REFUSED),
  reversed: async (play: Play) => send(play, paidOut(play), reversed(play)),
  'reversed without a success before': async (play: Play) => send(play, reversed(play)),
  'paid less': async (play: Play) => resolveAsPaid(play, -5_01n),
  'paid more': async (play: Play) => resolveAsPaid(play, 7_77n),
  'paid less and reversed': async (play: Play) => {
    await resolveAsPaid(play, -3_33n);
    await applyOutcome(play, reversed(play, -3_33n));
  },
  'resolved as unpaid by an operator': async (play: Play) => {
    await send(play, UNKNOWN_PAYOUT);
    // Before, its provider may still report it paid.
    play.world.pass(2 * HOUR_MS);
    await resolve(play, { outcome: 'FAILED', providerReference: `CASE-${play.row.id}`, reason: 'Never paid.' });
  },
  'paid after it had failed': async (play: Play) => {
    await send(play, REFUSED, paidOut(play));
    await resolve(play, paidResolution(play));
  },
} as const;

/** The provider's outcome of a payout of `moreSantim` more than requested. */
function paidOut({ row }: Play, moreSantim = 0n): PayoutOutcome {
  return { ...PAID_OUT, amountSantim: row.amountSantim + moreSantim, providerReference: `OUT-${row.id}` };
}

/** The provider's outcome of a returned payout of `moreSantim` more than requested. */
function reversed({ row }: Play, moreSantim = 0n): PayoutOutcome {
  return { ...REVERSED, amountSantim: row.amountSantim + moreSantim };
}

async function approve({ world, row }: Play): Promise<void> {
  await world.runInTransaction((tx) => approveWithdrawal(tx, row.id, by(world)));
}

/** Approves and sends; the provider then returns these outcomes one after the other. */
async function send(play: Play, ...outcomes: PayoutOutcome[]): Promise<void> {
  await approve(play);
  for (const outcome of outcomes) await applyOutcome(play, outcome);
}

async function applyOutcome({ world, row }: Play, outcome: PayoutOutcome): Promise<void> {
  world.provider.returnsForPayouts(outcome);
  await createCheckPayout(world)(row.id, { minIntervalMs: 0, proof: true, notifyWorkflow: false });
}

async function resolve({ world, row }: Play, resolution: Resolution): Promise<void> {
  await world.runInTransaction((tx) => resolveWithdrawal(tx, row.id, { ...resolution, ...by(world) }));
}

function paidResolution({ row }: Play): Resolution {
  return { outcome: 'COMPLETED', providerReference: `OUT-${row.id}`, reason: 'Paid according to the receipt.' };
}

/** The provider reports a payout of `moreSantim` more than requested, and an operator confirms it. */
async function resolveAsPaid(play: Play, moreSantim: bigint): Promise<void> {
  await send(play, paidOut(play, moreSantim));
  await resolve(play, { ...paidResolution(play), paidSantim: play.row.amountSantim + moreSantim });
}

type Paying = { world: World; scope: MerchantScope; sessionId: string; transactionId: string; first: string };

/** Every way in which a payment of 100.50 ETB may go. */
export const PAYMENT_SCENARIOS = {
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

async function payWith(world: World, attemptId: string, ...outcomes: ProviderOutcome[]): Promise<void> {
  for (const outcome of outcomes) {
    world.provider.returns(outcome);
    await world.checkAttempt(attemptId, { notifyWorkflow: false });
  }
}

/** The first attempt is declined, the second is paid, and then the first one is paid as well. */
async function payTwice({ world, scope, sessionId, first }: Paying): Promise<void> {
  await payWith(world, first, declined(true));
  const second = await buildAttempt(world, { ...scope, sessionId });
  await payWith(world, second, ACCEPTED, PAID);
  await payWith(world, first, PAID);
}

async function accept({ world, transactionId, first: attemptId }: Paying): Promise<void> {
  await world.runInTransaction((tx) => acceptHeldPayment(tx, { transactionId, attemptId, at: world.clock() }));
}

/** Plays a scenario of a payment that its provider has accepted. */
export async function playPayment(
  world: World,
  scope: MerchantScope,
  scenario: keyof typeof PAYMENT_SCENARIOS,
): Promise<void> {
  const { sessionId, transactionId, attemptId: first } = await buildPendingPayment(world, scope);
  await PAYMENT_SCENARIOS[scenario]({ world, scope, sessionId, transactionId, first });
  world.pass(1_000);
}

export type WithdrawalScenario = {
  scenario: keyof typeof WITHDRAWAL_SCENARIOS;
  amountSantim: bigint;
  channel: 'TELEBIRR' | 'CBE_BIRR';
};

let created = 0;

/** Plays a scenario of a withdrawal to a new destination, which is reviewed. */
export async function playWithdrawal(
  world: World,
  scope: MerchantScope,
  { scenario, ...requested }: WithdrawalScenario,
): Promise<void> {
  created += 1;
  const phone = `2519${String(10_000_000 + created)}`;
  const newWithdrawal = {
    ...requested,
    requestId: `SCENARIO-${created}`,
    destination: { kind: 'phone', phone, accountName: `Payee ${created}` },
    requestedBy: 'key_test',
  } as const;
  const { row } = await world.runInTransaction((tx) => createWithdrawal({ ...world, tx }, scope, newWithdrawal));
  await WITHDRAWAL_SCENARIOS[scenario]({ world, row });
  const { stage } = await readWithdrawal(world.db, row.id);
  if (scenario === 'under review' && stage !== 'UNDER_REVIEW') throw new Error(`the withdrawal is ${stage}`);
}

type Step = (tx: UnitOfWork, id: string, by: { operatorId: string; at: Date }) => Promise<unknown>;

const approved: Step = (tx, id, by) => approveSettlement(tx, id, by);
const sent: Step = (tx, id, by) => markSent(tx, id, by);
const credited: Step = (tx, id, by) => markCredited(tx, id, { ...by, bankReference: `FT-${id}`, creditedAt: by.at });
const failed: Step = (tx, id, by) => markFailed(tx, id, { ...by, reason: 'Closed.' });
const returned: Step = (tx, id, by) => markReturned(tx, id, { ...by, reason: 'Dormant.', bankReference: `R-${id}` });

/** Every way in which a settlement may go, step by step. */
export const SETTLEMENT_SCENARIOS = {
  requested: [],
  rejected: [(tx, id, by) => rejectSettlement(tx, id, { ...by, reason: 'Not now.' })],
  cancelled: [(tx, id, by) => cancelSettlement(tx, { id }, { keyId: 'key_test', at: by.at })],
  approved: [approved],
  'failed before it was sent': [approved, failed],
  processing: [approved, sent],
  credited: [approved, sent, credited],
  'failed after it was sent': [approved, sent, failed],
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

export type SettlementScenario = { scenario: keyof typeof SETTLEMENT_SCENARIOS; amountSantim: bigint };

/** Plays a scenario of a settlement. */
export async function playSettlement(
  world: World,
  scope: MerchantScope,
  { scenario, amountSantim }: SettlementScenario,
): Promise<void> {
  const { id } = await requestSettlement(world, scope, { amount: amountSantim });
  for (const step of SETTLEMENT_SCENARIOS[scenario]) await world.runInTransaction((tx) => step(tx, id, by(world)));
}
