import type { Change } from '../../src/lib/outbox.ts';
import type { Owner } from '../../src/lib/owner.ts';
import type { PayoutOutcome } from '../../src/providers/provider.ts';
import { markCredited, markFailed, markReturned, markSent } from '../../src/settlements/bank-answer.ts';
import { approveSettlement, cancelSettlement, rejectSettlement } from '../../src/settlements/decide.ts';
import { bookLateCredit, dismissLateCredit } from '../../src/settlements/late-credit.ts';
import { createCheckPayout } from '../../src/withdrawals/check.ts';
import { createWithdrawal } from '../../src/withdrawals/create.ts';
import { approveWithdrawal, cancelWithdrawal, rejectWithdrawal } from '../../src/withdrawals/decide.ts';
import { readWithdrawal, type WithdrawalRow } from '../../src/withdrawals/model.ts';
import { resolveWithdrawal, type Resolution } from '../../src/withdrawals/resolve.ts';
import type { World } from '../support/build.ts';
import { ask } from '../support/settlements.ts';
import { DOUBT, PAID_OUT, REFUSED, REVERSED, TAKEN } from '../support/withdrawals.ts';

type Lived = { world: World; row: WithdrawalRow; by: { operatorId: string; at: Date } };

/** Everything that may become of a withdrawal that is reviewed first, by what became of it. */
export const WITHDRAWAL_LIVES = {
  'under review': async () => {},
  rejected: async ({ world, row, by }: Lived) =>
    world.runChange((change) => rejectWithdrawal(change, row.id, { ...by, reason: 'Not known.' })),
  cancelled: async ({ world, row, by }: Lived) => world.runChange((change) => cancelWithdrawal(change, row, by.at)),
  approved: async (lived: Lived) => approve(lived),
  'on its way': async (lived: Lived) => send(lived, TAKEN),
  'in doubt': async (lived: Lived) => send(lived, DOUBT),
  paid: async (lived: Lived) => send(lived, paidOut(lived)),
  refused: async (lived: Lived) => send(lived, REFUSED),
  reversed: async (lived: Lived) => send(lived, paidOut(lived), REVERSED),
  'reversed at once': async (lived: Lived) => send(lived, REVERSED),
  'paid less': async (lived: Lived) => resolve(lived, -5_01n),
  'paid more': async (lived: Lived) => resolve(lived, 7_77n),
  'paid less and reversed': async (lived: Lived) => {
    await resolve(lived, -3_33n);
    await hear(lived, REVERSED);
  },
  'not paid, says an operator': async (lived: Lived) => {
    await send(lived, DOUBT);
    await say(lived, { outcome: 'FAILED', providerReference: 'CASE-1', reason: 'Never paid.' });
  },
  'paid after it had failed': async (lived: Lived) => {
    await send(lived, REFUSED, paidOut(lived));
    await say(lived, { outcome: 'COMPLETED', providerReference: 'OUT-9', reason: 'The receipt says so.' });
  },
} as const;

function paidOut({ row }: Lived): PayoutOutcome {
  return { ...PAID_OUT, amountSantim: row.amountSantim, providerReference: `OUT-${row.id}` };
}

async function approve({ world, row, by }: Lived): Promise<void> {
  await world.runChange((change) => approveWithdrawal(change, row.id, by));
}

/** Approved, sent, and then answered so, one answer after the other. */
async function send(lived: Lived, ...answers: PayoutOutcome[]): Promise<void> {
  await approve(lived);
  for (const answer of answers) await hear(lived, answer);
}

async function hear({ world, row }: Lived, answer: PayoutOutcome): Promise<void> {
  world.provider.answersOfPayouts(answer);
  await createCheckPayout(world)(row.id, { minIntervalMs: 0, proof: true, tellWorkflow: false });
}

async function say({ world, row, by }: Lived, resolution: Resolution): Promise<void> {
  await world.runChange((change) => resolveWithdrawal(change, row.id, { ...resolution, ...by }));
}

/** In doubt, and then an operator says that so much more than asked for was paid. */
async function resolve(lived: Lived, moreSantim: bigint): Promise<void> {
  await send(lived, DOUBT);
  const paidSantim = lived.row.amountSantim + moreSantim;
  await say(lived, { outcome: 'COMPLETED', providerReference: 'OUT-9', paidSantim, reason: 'The receipt says so.' });
}

export type WithdrawalLife = {
  life: keyof typeof WITHDRAWAL_LIVES;
  amountSantim: bigint;
  channel: 'TELEBIRR' | 'CBE_BIRR';
};

let made = 0;

/** A withdrawal to somebody new, so that it is reviewed, and all that becomes of it. */
export async function liveWithdrawal(world: World, owner: Owner, { life, ...wanted }: WithdrawalLife): Promise<void> {
  made += 1;
  const phone = `2519${String(10_000_000 + made)}`;
  const asked = {
    ...wanted,
    requestId: `LIFE-${made}`,
    destination: { kind: 'phone', phone, accountName: `Payee ${made}` },
    requestedBy: 'key_test',
  } as const;
  const { row } = await world.runChange((change) => createWithdrawal({ ...world, change }, owner, asked));
  await WITHDRAWAL_LIVES[life]({ world, row, by: { operatorId: 'opr_1', at: world.clock() } });
  const { stage } = await readWithdrawal(world.db, row.id);
  if (life === 'under review' && stage !== 'UNDER_REVIEW') throw new Error(`it is ${stage}`);
}

type Step = (change: Change, id: string, by: { operatorId: string; at: Date }) => Promise<unknown>;

const approved: Step = (change, id, by) => approveSettlement(change, id, by);
const sent: Step = (change, id, by) => markSent(change, id, by);
const credited: Step = (change, id, by) =>
  markCredited(change, id, { ...by, bankReference: `FT-${id}`, creditedAt: by.at });
const failed: Step = (change, id, by) => markFailed(change, id, { ...by, reason: 'Closed.' });
const returned: Step = (change, id, by) =>
  markReturned(change, id, { ...by, reason: 'Dormant.', bankReference: `R-${id}` });

/** Everything that may become of a settlement, step by step. */
export const SETTLEMENT_LIVES = {
  requested: [],
  rejected: [(change, id, by) => rejectSettlement(change, id, { ...by, reason: 'Not now.' })],
  cancelled: [(change, id, by) => cancelSettlement(change, { id }, { keyId: 'key_test', at: by.at })],
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
    (change, id, by) => dismissLateCredit(change, id, { ...by, reason: 'None.' }),
  ],
} as const satisfies Record<string, readonly Step[]>;

export type SettlementLife = { life: keyof typeof SETTLEMENT_LIVES; amountSantim: bigint };

/** A settlement, and all that becomes of it. */
export async function liveSettlement(world: World, owner: Owner, wanted: SettlementLife): Promise<void> {
  const { id } = await ask(world, owner, { amount: wanted.amountSantim });
  const by = { operatorId: 'opr_1', at: world.clock() };
  for (const step of SETTLEMENT_LIVES[wanted.life]) await world.runChange((change) => step(change, id, by));
}
