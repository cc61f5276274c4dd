import { setTimeout as sleep } from 'node:timers/promises';

import type { Clock } from '../lib/clock.ts';
import { rows, type Knex } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';
import type { RunChange } from '../lib/outbox.ts';
import { callbackUrl } from '../providers/callbacks.ts';
import type { FindProvider, PayoutOrder, PayoutOutcome, Provider } from '../providers/provider.ts';
import { destinationOf, readWithdrawal, type WithdrawalRow } from './model.ts';
import { moveWithdrawal, type Move } from './settle.ts';
import type { WithdrawalStage } from './states.ts';

export type CheckPayoutDeps = {
  db: Knex;
  runChange: RunChange;
  findProvider: FindProvider;
  clock: Clock;
  /** Where providers reach us, without a slash at the end. */
  baseUrl: string;
  log: Pick<Logger, 'error'>;
};

export type CheckPayoutOptions = {
  /** Does not ask when the provider was asked less than this ago. */
  minIntervalMs: number;
  /** The provider itself has said something: then one that had failed is asked about too. */
  proof?: boolean;
  /** Sends nothing: neither what was never sent, nor again what its provider does not know. */
  askOnly?: boolean;
  /** Whether to tell the withdrawal's workflow of what this check changes (everybody but the workflow itself). */
  tellWorkflow: boolean;
  /** The time of business, where it is not the clock's: a workflow's. */
  now?: Date;
};

/** Where the withdrawal stands after a check. `asked`: this very call heard `outcome` from the provider. */
export type CheckedPayout = { row: WithdrawalRow; asked: boolean; outcome: PayoutOutcome['kind'] | null };

export type CheckPayout = (withdrawalId: string, options: CheckPayoutOptions) => Promise<CheckedPayout>;

/** Longer than a provider call may take, twice; after it a dead process's withdrawal may be asked about by others. */
const LEASE_MS = 10_000;
const OTHERS_ANSWER_WAIT_MS = 2_000;
const OTHERS_ANSWER_POLL_MS = 100;

/**
 * The one operation that sends a payout and settles doubt about it: leases the withdrawal, sends it or asks about it,
 * applies the answer. A payout the provider never took is sent again under the same id, which never pays twice. Nothing
 * is given back but for the provider's definite no. Repeats and parallel calls are harmless.
 */
export function createCheckPayout(deps: CheckPayoutDeps): CheckPayout {
  return async (withdrawalId, options) => {
    for (let waitedMs = 0; ; waitedMs += OTHERS_ANSWER_POLL_MS) {
      const claimed = await claim(deps, withdrawalId, options);
      if (claimed) return ask(deps, claimed, options);
      const row = await readWithdrawal(deps.db, withdrawalId);
      const leasedByOther = row.leaseUntil !== null && row.leaseUntil > deps.clock();
      if (!leasedByOther || waitedMs >= OTHERS_ANSWER_WAIT_MS) return { row, asked: false, outcome: row.lastOutcome };
      await sleep(OTHERS_ANSWER_POLL_MS);
    }
  };
}

/** A withdrawal under lease; `cameFrom`: its stage before, CREATED when this call is the first to send it. */
type Claimed = WithdrawalRow & { cameFrom: WithdrawalStage; leaseUntil: Date; mayBeSent: boolean };

/**
 * The lease: one conditional UPDATE. From here on it counts as sent, whatever becomes of this process, so that nobody
 * gives its money back. A suspended merchant's is not sent.
 */
async function claim(
  deps: CheckPayoutDeps,
  id: string,
  { minIntervalMs, proof = false, askOnly = false, now }: CheckPayoutOptions,
): Promise<Claimed | undefined> {
  const clock = deps.clock();
  const at = now ?? clock;
  const [claimed] = await rows<Claimed>(
    deps.db,
    `WITH before AS (
       SELECT w.id, w.stage, m.status = 'ACTIVE' AND NOT CAST(:askOnly AS boolean) AS may_be_sent FROM withdrawal w JOIN merchant m ON m.id = w.merchant_id
       WHERE w.id = :id AND w.status = ANY (:askable) AND w.stage <> 'UNDER_REVIEW'
         AND (w.stage <> 'CREATED' OR (m.status = 'ACTIVE' AND NOT CAST(:askOnly AS boolean)))
         AND (w.lease_until IS NULL OR w.lease_until <= :clock)
         ${minIntervalMs > 0 ? 'AND (w.last_checked_at IS NULL OR w.last_checked_at <= :askedBefore)' : ''}
       FOR UPDATE OF w
     ), claimed AS (
       UPDATE withdrawal w SET lease_until = :leaseUntil, submitted_at = coalesce(w.submitted_at, :at),
         stage = CASE w.stage WHEN 'CREATED' THEN 'SUBMITTED' ELSE w.stage END,
         version = w.version + CASE w.stage WHEN 'CREATED' THEN 1 ELSE 0 END
       FROM before WHERE w.id = before.id
       RETURNING w.*, before.stage AS came_from, before.may_be_sent
     ), noted AS (
       INSERT INTO withdrawal_timeline (withdrawal_id, at, kind)
       SELECT id, CAST(:at AS timestamptz), 'payout.submitted' FROM claimed WHERE came_from = 'CREATED'
     )
     SELECT * FROM claimed`,
    {
      id,
      askOnly,
      askable: proof ? ['PENDING', 'SUCCESS', 'FAILED'] : ['PENDING', 'SUCCESS'],
      at,
      clock,
      leaseUntil: new Date(clock.getTime() + LEASE_MS),
      askedBefore: new Date(at.getTime() - minIntervalMs),
    },
  );
  return claimed;
}

async function ask(deps: CheckPayoutDeps, claimed: Claimed, options: CheckPayoutOptions): Promise<CheckedPayout> {
  const at = options.now ?? deps.clock();
  try {
    const outcome = await askProvider(deps, claimed);
    const row = await apply(deps, claimed, { outcome, at, tellWorkflow: options.tellWorkflow });
    return { row: row ?? (await readWithdrawal(deps.db, claimed.id)), asked: true, outcome: outcome.kind };
  } catch (error) {
    await giveLeaseBack(deps.db, claimed).catch(() => undefined);
    throw error;
  }
}

/** After a failure, so that the next check need not wait for the lease's end. */
async function giveLeaseBack(db: Knex, { id, leaseUntil }: Claimed): Promise<void> {
  await rows(db, 'UPDATE withdrawal SET lease_until = NULL WHERE id = :id AND lease_until = :leaseUntil', {
    id,
    leaseUntil,
  });
}

async function askProvider(deps: CheckPayoutDeps, row: Claimed): Promise<PayoutOutcome> {
  const provider = deps.findProvider(row.channel, row.environment);
  if (!provider) {
    return { kind: 'unknown', reason: 'network', message: `no provider is configured for ${row.channel}` };
  }
  if (row.cameFrom === 'CREATED') return send(deps, provider, row);
  const outcome = await provider.queryPayout(row.id);
  // The first sending was lost on its way: the same id again pays once at most.
  const isLost = outcome.kind === 'not-found' && row.status === 'PENDING';
  return isLost && row.mayBeSent ? send(deps, provider, row) : outcome;
}

async function send({ baseUrl, clock }: CheckPayoutDeps, provider: Provider, row: Claimed): Promise<PayoutOutcome> {
  // Who slept through its lease may be late: another may have had a definite no, and given the money back.
  if (clock() >= row.leaseUntil) return { kind: 'unknown', reason: 'timeout', message: 'not sent: the lease ran out' };
  const { accountName, ...destination } = destinationOf(row);
  const order: PayoutOrder = {
    orderId: row.id,
    amountSantim: row.amountSantim,
    currency: row.currency,
    destination,
    accountName,
    notifyUrl: callbackUrl(baseUrl, { channel: row.channel, secret: row.callbackSecret }),
  };
  return provider.payout(order);
}

type Heard = { outcome: PayoutOutcome; at: Date; tellWorkflow: boolean };

/** null: the answer ends nothing, or somebody else has moved it meanwhile; the row says where it stands. */
async function apply(deps: CheckPayoutDeps, row: Claimed, heard: Heard): Promise<WithdrawalRow | null> {
  const { outcome, at } = heard;
  const base = {
    id: row.id,
    at,
    outcome: outcome.kind,
    wake: heard.tellWorkflow ? ('providerAnswered' as const) : null,
  };
  if (outcome.kind === 'succeeded' && row.status !== 'SUCCESS') {
    const isExact = outcome.amountSantim === row.amountSantim && outcome.currency === row.currency;
    const moved = isExact && (await deps.runChange((change) => moveWithdrawal(change, { ...base, ...paid(outcome) })));
    if (moved) return moved;
    await noteAnswer(deps, row, heard);
    const { status } = await readWithdrawal(deps.db, row.id);
    const ids = { withdrawalId: row.id, providerReference: outcome.providerReference };
    if (status === 'PENDING') deps.log.error(ids, 'a provider says it paid out another amount than it was told');
    if (status === 'FAILED') await noteContradiction(deps, row, heard);
    return null;
  }
  if (outcome.kind === 'declined' && row.status === 'PENDING') {
    const { failure } = outcome;
    const detail = { code: failure.code, providerCode: failure.providerCode };
    const failed = { to: 'FAILED', kind: 'payout.failed', event: 'withdrawal.failed' } as const;
    return deps.runChange((change) =>
      moveWithdrawal(change, { ...base, ...failed, detail, failure, providerCode: failure.providerCode }),
    );
  }
  if (outcome.kind === 'reversed' && row.status !== 'FAILED') {
    return deps.runChange(async (change) => {
      // Paid and back before we heard of the first: both happened, and both are booked and told.
      if (row.status === 'PENDING') await moveWithdrawal(change, { ...base, ...paid(outcome), wake: null });
      return moveWithdrawal(change, { ...base, ...reversed(outcome) });
    });
  }
  return noteAnswer(deps, row, heard);
}

/** Paid by its provider after all, though it was given back for the provider's own no: operators must look. */
async function noteContradiction(deps: CheckPayoutDeps, row: Claimed, { outcome, at }: Heard): Promise<void> {
  deps.log.error({ withdrawalId: row.id }, 'a provider says it paid out what it had refused before: look into it');
  await rows(
    deps.db,
    `WITH noted AS (
       UPDATE withdrawal SET contradicted_at = :at WHERE id = :id AND contradicted_at IS NULL RETURNING id
     )
     INSERT INTO withdrawal_timeline (withdrawal_id, at, kind, detail)
     SELECT id, CAST(:at AS timestamptz), 'provider.contradicts', CAST(:detail AS jsonb) FROM noted`,
    { id: row.id, at, detail: JSON.stringify(detailOf(outcome)) },
  );
}

type Told = Extract<PayoutOutcome, { kind: 'succeeded' | 'reversed' }>;
type Ending = Pick<Move, 'kind' | 'event' | 'detail' | 'providerReference' | 'providerCode'>;

function paid({ providerReference, providerCode }: Told): Ending & { to: 'SUCCESS' } {
  const move = { to: 'SUCCESS', kind: 'payout.succeeded', event: 'withdrawal.succeeded' } as const;
  return { ...move, detail: { providerReference }, providerReference, providerCode };
}

function reversed({ providerReference, providerCode }: Told): Ending & { to: 'REVERSED' } {
  const move = { to: 'REVERSED', kind: 'payout.reversed', event: 'withdrawal.reversed' } as const;
  return { ...move, detail: { providerReference }, providerReference, providerCode };
}

/** Saves an answer that ends nothing, and gives the lease back. The timeline tells only of answers that differ. */
async function noteAnswer(deps: CheckPayoutDeps, row: Claimed, { outcome, at }: Heard): Promise<null> {
  // "Paid" that could not be booked is no end: it is asked about again.
  const isDoubt = outcome.kind === 'unknown' || outcome.kind === 'succeeded';
  await rows(
    deps.db,
    `WITH noted AS (
       UPDATE withdrawal SET last_outcome = :kind, last_checked_at = :checkedAt, lease_until = NULL,
         stage = CASE status WHEN 'PENDING' THEN :stage ELSE stage END,
         provider_reference = coalesce(:providerReference, provider_reference),
         provider_code = coalesce(:providerCode, provider_code),
         version = version + CASE WHEN (status = 'PENDING' AND stage <> :stage)
           OR provider_reference IS DISTINCT FROM coalesce(:providerReference, provider_reference) THEN 1 ELSE 0 END
       WHERE id = :id AND lease_until = :leaseUntil RETURNING id
     )
     INSERT INTO withdrawal_timeline (withdrawal_id, at, kind, detail)
     SELECT id, CAST(:at AS timestamptz), 'provider.answer', CAST(:detail AS jsonb) FROM noted
     WHERE CAST(:differs AS boolean)`,
    {
      id: row.id,
      leaseUntil: row.leaseUntil,
      kind: outcome.kind,
      stage: isDoubt ? 'UNKNOWN' : 'SUBMITTED',
      checkedAt: deps.clock(),
      at,
      providerReference: 'providerReference' in outcome ? outcome.providerReference : null,
      providerCode: 'providerCode' in outcome ? outcome.providerCode : null,
      detail: JSON.stringify(detailOf(outcome)),
      differs: outcome.kind !== row.lastOutcome,
    },
  );
  return null;
}

/** What the timeline keeps of an answer: with "paid", how much, for it may not be what was told. */
function detailOf(outcome: PayoutOutcome): Record<string, unknown> {
  const { kind } = outcome;
  const code = 'providerCode' in outcome && outcome.providerCode !== null ? { providerCode: outcome.providerCode } : {};
  if (kind !== 'succeeded') return { outcome: kind, ...code };
  const { amountSantim, currency, providerReference } = outcome;
  return { outcome: kind, ...code, amountSantim: Number(amountSantim), currency, providerReference };
}

/**
 * Whether the check that a provider's genuine word set off may count as its answer: it was asked and was definite, or
 * the withdrawal was never sent or has come back, which nothing changes any more.
 */
export function isPayoutAnswered({ row, asked, outcome }: CheckedPayout): boolean {
  if (['REJECTED', 'CANCELLED', 'REVERSED'].includes(row.status)) return true;
  return asked && outcome !== 'unknown';
}
