import { HOUR_MS } from '../../src/lib/dates.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import type { UnitOfWork } from '../../src/outbox/record.ts';
import { acceptHeldPayment, returnHeldPayment } from '../../src/payments/holds.ts';
import { createCheck } from '../../src/payouts/check.ts';
import type { Resolution } from '../../src/payouts/resolution.ts';
import { resolvePayout } from '../../src/payouts/resolve.ts';
import { createWithdrawal } from '../../src/payouts/withdrawals/create.ts';
import { readWithdrawal, type WithdrawalRow } from '../../src/payouts/withdrawals/queries.ts';
import { approveWithdrawal, cancelWithdrawal, rejectWithdrawal } from '../../src/payouts/withdrawals/review.ts';
import { WITHDRAWAL } from '../../src/payouts/withdrawals/withdrawal.ts';
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
import { ACCEPTED, buildAttempt, buildPendingPayment, declined, PAID, type Fixture } from '../support/build.ts';
import { requestSettlement } from '../support/settlements.ts';
import { UNKNOWN_PAYOUT, PAID_OUT, REFUSED, REVERSED, TAKEN } from '../support/withdrawals.ts';

type Play = { fixture: Fixture; row: WithdrawalRow };

/** The operator who decides, and the time. */
const by = (fixture: Fixture) => ({ operatorId: 'opr_1', at: fixture.clock() });

/** Every way in which a withdrawal that is reviewed may go. */
export const WITHDRAWAL_SCENARIOS = {
  'under review': async () => {},
  rejected: async ({ fixture, row }: Play) =>
    fixture.runInTransaction((tx) => rejectWithdrawal(tx, row.id, { ...by(fixture), reason: 'Not known.' })),
  cancelled: async ({ fixture, row }: Play) =>
    fixture.runInTransaction((tx) => cancelWithdrawal(tx, row, fixture.clock())),
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
    play.fixture.pass(2 * HOUR_MS);
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

async function approve({ fixture, row }: Play): Promise<void> {
  await fixture.runInTransaction((tx) => approveWithdrawal(tx, row.id, by(fixture)));
}

/** Approves and sends; the provider then returns these outcomes one after the other. */
async function send(play: Play, ...outcomes: PayoutOutcome[]): Promise<void> {
  await approve(play);
  for (const outcome of outcomes) await applyOutcome(play, outcome);
}

async function applyOutcome({ fixture, row }: Play, outcome: PayoutOutcome): Promise<void> {
  fixture.provider.returnsForPayouts(outcome);
  await createCheck(fixture, WITHDRAWAL)(row.id, { minIntervalMs: 0, proof: true, notifyWorkflow: false });
}

async function resolve({ fixture, row }: Play, resolution: Resolution): Promise<void> {
  await fixture.runInTransaction((tx) => resolvePayout(tx, WITHDRAWAL, { id: row.id, ...resolution, ...by(fixture) }));
}

function paidResolution({ row }: Play): Resolution {
  return { outcome: 'COMPLETED', providerReference: `OUT-${row.id}`, reason: 'Paid according to the receipt.' };
}

/** The provider reports a payout of `moreSantim` more than requested, and an operator confirms it. */
async function resolveAsPaid(play: Play, moreSantim: bigint): Promise<void> {
  await send(play, paidOut(play, moreSantim));
  await resolve(play, { ...paidResolution(play), paidSantim: play.row.amountSantim + moreSantim });
}

type Paying = { fixture: Fixture; scope: MerchantScope; sessionId: string; transactionId: string; first: string };

/** Every way in which a payment of 100.50 ETB may go. */
export const PAYMENT_SCENARIOS = {
  pending: async () => {},
  paid: async ({ fixture, first }: Paying) => payWith(fixture, first, PAID),
  declined: async ({ fixture, first }: Paying) => payWith(fixture, first, declined(false)),
  held: async ({ fixture, first }: Paying) => payWith(fixture, first, { ...PAID, amountSantim: 80_01n }),
  'held, and accepted': async (paying: Paying) => {
    await payWith(paying.fixture, paying.first, { ...PAID, amountSantim: 80_01n });
    await accept(paying);
  },
  'paid twice': async (paying: Paying) => payTwice(paying),
  'paid twice, and accepted': async (paying: Paying) => {
    await payTwice(paying);
    await accept(paying);
  },
  'paid twice, and returned': async (paying: Paying) => {
    await payTwice(paying);
    const { fixture, transactionId, first: attemptId } = paying;
    const returned = {
      transactionId,
      attemptId,
      at: fixture.clock(),
      reason: 'Twice.',
      reference: `BACK-${attemptId}`,
    };
    await fixture.runInTransaction((tx) => returnHeldPayment(tx, returned));
  },
} as const;

async function payWith(fixture: Fixture, attemptId: string, ...outcomes: ProviderOutcome[]): Promise<void> {
  for (const outcome of outcomes) {
    fixture.provider.returns(outcome);
    await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
  }
}

/** The first attempt is declined, the second is paid, and then the first one is paid as well. */
async function payTwice({ fixture, scope, sessionId, first }: Paying): Promise<void> {
  await payWith(fixture, first, declined(true));
  const second = await buildAttempt(fixture, { ...scope, sessionId });
  await payWith(fixture, second, ACCEPTED, PAID);
  await payWith(fixture, first, PAID);
}

async function accept({ fixture, transactionId, first: attemptId }: Paying): Promise<void> {
  await fixture.runInTransaction((tx) => acceptHeldPayment(tx, { transactionId, attemptId, at: fixture.clock() }));
}

/** Plays a scenario of a payment that its provider has accepted. */
export async function playPayment(
  fixture: Fixture,
  scope: MerchantScope,
  scenario: keyof typeof PAYMENT_SCENARIOS,
): Promise<void> {
  const { sessionId, transactionId, attemptId: first } = await buildPendingPayment(fixture, scope);
  await PAYMENT_SCENARIOS[scenario]({ fixture, scope, sessionId, transactionId, first });
  fixture.pass(1_000);
}

export type WithdrawalScenario = {
  scenario: keyof typeof WITHDRAWAL_SCENARIOS;
  amountSantim: bigint;
  channel: 'TELEBIRR' | 'CBE_BIRR';
};

let created = 0;

/** Plays a scenario of a withdrawal to a new destination, which is reviewed. */
export async function playWithdrawal(
  fixture: Fixture,
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
  const { row } = await fixture.runInTransaction((tx) => createWithdrawal({ ...fixture, tx }, scope, newWithdrawal));
  await WITHDRAWAL_SCENARIOS[scenario]({ fixture, row });
  const { stage } = await readWithdrawal(fixture.db, row.id);
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
  cancelled: [(tx, id, by) => cancelSettlement(tx, { id }, { actor: 'key_test', at: by.at })],
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
  fixture: Fixture,
  scope: MerchantScope,
  { scenario, amountSantim }: SettlementScenario,
): Promise<void> {
  const { id } = await requestSettlement(fixture, scope, { amount: amountSantim });
  for (const step of SETTLEMENT_SCENARIOS[scenario]) await fixture.runInTransaction((tx) => step(tx, id, by(fixture)));
}
