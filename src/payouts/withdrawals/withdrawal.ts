import { rolesWith } from '../../access/users/roles.ts';
import { first, type Trx } from '../../lib/db.ts';
import { formatBirr, type Santim } from '../../lib/money.ts';
import { recordTimeline } from '../../lib/timeline.ts';
import { notifyMembers } from '../../outbox/mail.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { changePayout } from '../queries.ts';
import { evidenceOf } from '../report.ts';
import type { End, Entry, PayoutRules } from '../rules.ts';
import { recordWithdrawalEvents } from './events.ts';
import { destinationOf, toPayout, type WithdrawalRow } from './queries.ts';
import type { TimelineKind } from './schema.ts';
import { stageAfterConfirmation, WITHDRAWAL_TRANSITIONS } from './states.ts';
import { withdrawalMessage } from './workflow.ts';

/** The event of an end, and the signal to the workflow of a withdrawal that was PENDING. */
const ENDS = {
  SUCCESS: { event: 'withdrawal.succeeded', signal: 'providerResultRecorded' },
  FAILED: { event: 'withdrawal.failed', signal: 'providerResultRecorded' },
  REJECTED: { event: 'withdrawal.rejected', signal: 'rejected' },
  CANCELLED: { event: 'withdrawal.canceled', signal: 'cancelled' },
  REVERSED: { event: 'withdrawal.reversed', signal: 'providerResultRecorded' },
} as const;

/** What is only true of withdrawals; of a suspended merchant none is sent. */
export const WITHDRAWAL: PayoutRules<WithdrawalRow> = {
  kind: 'withdrawal',
  transitions: WITHDRAWAL_TRANSITIONS,
  finalStatus: 'REVERSED',

  account: 'payouts',
  isSendable: async (trx, { merchantId }) => {
    const sql = 'SELECT status FROM merchant WHERE id = :merchantId';
    return (await first<{ status: string }>(trx, sql, { merchantId }))?.status === 'ACTIVE';
  },
  query: async (provider, { id }) => provider.queryPayout(id),
  send: async (provider, row, notifyUrl) => {
    const { id: orderId, amountSantim, currency } = row;
    const { accountName, ...destination } = destinationOf(row);
    return provider.payout({ orderId, amountSantim, currency, destination, accountName, notifyUrl });
  },

  recordEntry: async (trx, { id }, entry) => recordTimeline(trx, id, entry),
  entries: {
    submitted: 'payout.submitted',
    responded: 'provider.responded',
    resolved: 'withdrawal.resolved',
    contradicted: 'provider.conflict',
  } satisfies Record<string, TimelineKind>,
  entryOf,
  detailOf: evidenceOf,
  reportedAs: ({ id: resourceId }, outcome) => ({ resourceId, detail: evidenceOf(outcome) }),

  recordEnd: async (tx, row, { to, at }) => recordWithdrawalEvents(tx, { row, events: [ENDS[to].event], at }),
  message: ({ id }, about) => withdrawalMessage(id, about === 'confirmed' ? about : ENDS[about].signal),
  toPosted: toPayout,

  confirm,
  declined: (reason) => ({ to: 'CANCELLED', entry: { kind: 'confirmation.declined', detail: { reason } } }),
  unconfirmed: { to: 'CANCELLED', entry: { kind: 'confirmation.expired' }, says: '; it will be cancelled.' },
  notifyUnconfirmed,

  contradicts: { succeeded: ['PENDING', 'FAILED'], declined: ['PENDING', 'SUCCESS'], reversed: ['PENDING', 'SUCCESS'] },
  resolution: {
    ofUnsent: false,
    corrects: () => true,
    allowed: 'UNKNOWN, SUBMITTED for a day, or contradicted by its provider after it ended',
    // As many as have approved it.
    operatorsNeeded: ({ approvalsNeeded }) => Math.max(approvalsNeeded, 1),
    readMostPaid,
  },
};

function entryOf({ providerReference, failure }: WithdrawalRow, to: End): Entry & { kind: TimelineKind } {
  if (to === 'SUCCESS') return { kind: 'payout.succeeded', detail: { providerReference } };
  if (to === 'REVERSED') return { kind: 'payout.reversed', detail: { providerReference } };
  return { kind: 'payout.failed', detail: { code: failure?.code, providerCode: failure?.providerCode } };
}

async function confirm(tx: UnitOfWork, before: WithdrawalRow, changes: { confirmedAt: Date }): Promise<WithdrawalRow> {
  const { id, reviewReasons: reasons, approvalsNeeded } = before;
  const at = changes.confirmedAt;
  const stage = stageAfterConfirmation(before);
  const row = await changePayout(tx.trx, before, { ...changes, stage });
  await recordTimeline(tx.trx, id, { at, kind: 'confirmation.given' });
  if (stage === 'UNDER_REVIEW') {
    await recordTimeline(tx.trx, id, { at, kind: 'review.started', detail: { reasons, approvalsNeeded } });
    await recordWithdrawalEvents(tx, { row, events: ['withdrawal.under_review'], at });
  }
  return row;
}

async function notifyUnconfirmed(tx: UnitOfWork, row: WithdrawalRow): Promise<void> {
  const { id: withdrawalId, reference: requestId, channel, requestedBy, amountSantim } = row;
  await notifyMembers(tx, row, {
    kind: 'withdrawal.unconfirmed',
    roles: rolesWith('withdrawals:write'),
    userIds: [requestedBy],
    withdrawalId,
    requestId,
    channel,
    amount: formatBirr(amountSantim),
  });
}

async function readMostPaid(trx: Trx, row: WithdrawalRow): Promise<{ santim: Santim; limit: string }> {
  const sql = `SELECT max(CAST(detail ->> 'amountSantim' AS bigint)) AS santim FROM timeline
    WHERE resource_id = :id AND detail ->> 'outcome' = 'succeeded' AND detail ->> 'currency' = :currency`;
  const reported = await first<{ santim: Santim | null }>(trx, sql, row);
  return { santim: reported?.santim ?? 0n, limit: 'the amount requested or reported by the provider' };
}
