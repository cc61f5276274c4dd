import { budget, type Asked } from './counts.ts';
import type { Lists } from './lists.ts';
import { hundredths } from './numbers.ts';
import type { Postings } from './postings.ts';
import type { Webhooks } from './webhooks.ts';

/** Statements as exact counts; an empty look is one into the outbox that found nothing more. */
export type Counts = {
  createSession: Asked;
  confirmPayment: { confirmed: Asked; afterwards: Asked };
  directDelivery: Asked;
  workflowDelivery: Asked;
  createWithdrawal: Asked;
};

export type Results = { webhooks?: Webhooks; lists?: Lists; postings?: Postings; counts: Counts };

export type Goal = { of: string; what: string; goal: string; measured: number; unit: string; ok: boolean };

/** The goals that this bench can judge. */
export function judge({ webhooks, lists, postings, counts }: Results): Goal[] {
  return [
    ...(lists ? listGoals(lists) : []),
    ...(postings ? postingGoals(postings) : []),
    ...countGoals(counts, webhooks),
    ...(webhooks ? speedGoals(webhooks) : []),
  ];
}

function listGoals({ ratio }: Lists): Goal[] {
  return [
    atMost('B1', 'list of 50 with exact total, CPU of process and PostgreSQL', {
      measured: ratio,
      limit: 1.5,
      unit: '× twin',
    }),
  ];
}

function postingGoals({ many, hot }: Postings): Goal[] {
  return [
    atLeast('Ledger', 'payments booked, many merchants', { measured: many.ratio, limit: 0.5, unit: '× pgbench' }),
    atLeast('Ledger', 'payments booked, one hot merchant', { measured: hot.ours, limit: 1_000, unit: '/s' }),
  ];
}

function countGoals(counts: Counts, webhooks: Webhooks | undefined): Goal[] {
  const statements = (what: string, { statements: { length } }: Asked, limit: number): Goal =>
    atMost('B4', what, { measured: length, limit, unit: 'statements' });
  const history = { limit: budget.historyEvents, unit: 'events' };
  return [
    statements('create session, with Idempotency-Key', counts.createSession, budget.createSession),
    statements('confirm payment', counts.confirmPayment.confirmed, budget.confirmPayment),
    statements('create withdrawal', counts.createWithdrawal, budget.createWithdrawal),
    statements('first-try delivery, mode "failed"', counts.directDelivery, budget.firstTryDelivery),
    statements('first-try delivery, mode "every"', counts.workflowDelivery, budget.firstTryDelivery),
    ...(webhooks
      ? [atMost('B6', 'history of a first-try delivery', { ...history, measured: webhooks.historyEvents })]
      : []),
  ];
}

function speedGoals({ failed, every, nullWorkflow }: Webhooks): Goal[] {
  const latency = (measured: Webhooks['failed'], perSecond: number) => {
    const found = measured.steady.find((one) => one.perSecond === perSecond);
    if (!found) throw new Error(`nothing was measured at ${perSecond}/s`);
    return found;
  };
  const ms = (measured: number, limit: number) => ({ measured, limit, unit: 'ms' });
  const ratio = every.burst.deliveriesPerSecond / nullWorkflow.perSecond;
  return [
    atMost('B5', '"failed", 100/s, commit to arrival p50', ms(latency(failed, 100).p50Ms, 5)),
    atMost('B5', '"failed", 100/s, commit to arrival p99', ms(latency(failed, 100).p99Ms, 30)),
    atMost('B5', '"every", 25/s, commit to arrival p50', ms(latency(every, 25).p50Ms, 60)),
    atMost('B5', '"every", 25/s, commit to arrival p99', ms(latency(every, 25).p99Ms, 300)),
    atMost('B5', '"every", 100/s, commit to arrival p99', ms(latency(every, 100).p99Ms, 500)),
    atLeast('B6', '"every", deliveries/s of a burst', { measured: ratio, limit: 0.65, unit: '× null workflow' }),
    atMost('B6', '"failed", CPU of a delivery in a burst', ms(failed.burst.cpuMsPerDelivery.total, 1.4)),
    atLeast('B6', '"failed", deliveries of a burst', {
      measured: failed.burst.deliveriesPerSecond,
      limit: 1_000,
      unit: '/s',
    }),
  ];
}

type Judged = { measured: number; limit: number; unit: string };

function atMost(of: string, what: string, { measured, limit, unit }: Judged): Goal {
  return { of, what, goal: `≤ ${limit}`, measured: hundredths(measured), unit, ok: measured <= limit };
}

function atLeast(of: string, what: string, { measured, limit, unit }: Judged): Goal {
  return { of, what, goal: `≥ ${limit}`, measured: hundredths(measured), unit, ok: measured >= limit };
}
