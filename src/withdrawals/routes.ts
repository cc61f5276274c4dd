import { z } from 'zod';

import { changedFields } from '../http/audit.ts';
import { actorOf, readRoute, writeRoute, type AuditedFields, type Route } from '../http/route.ts';
import { readBalance } from '../ledger/balance.ts';
import { readEffectiveRule } from '../ledger/fees.ts';
import { quotePayout } from '../ledger/quote.ts';
import type { Clock } from '../lib/clock.ts';
import { addisDay, startOfAddisDay } from '../lib/dates.ts';
import type { Database } from '../lib/db.ts';
import { toBirr, toSantim } from '../lib/money.ts';
import { readDayRange, readPage } from '../lib/pagination.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import { readTimeline } from '../lib/timeline.ts';
import { amountLimitError } from '../merchants/channels/limits.ts';
import { channelRejected, findChannel } from '../merchants/channels/operations.ts';
import { listChannels, type AmountLimits } from '../merchants/channels/queries.ts';
import { readSecondPersonFrom } from '../merchants/operations.ts';
import type { FindProvider } from '../providers/provider.ts';
import { createWithdrawal, dayLimit } from './create.ts';
import { presentWithdrawal } from './present.ts';
import { findWithdrawal, listWithdrawals, withdrawnSince } from './queries.ts';
import type { WithdrawalFilter, WithdrawalRow } from './queries.ts';
import { cancelWithdrawal } from './review.ts';
import * as schema from './schema.ts';
import type { CheckPayout } from './sync.ts';

export type WithdrawalRouteDeps = { db: Database; clock: Clock; findProvider: FindProvider; checkPayout: CheckPayout };

/** `verify` queries the provider about a PENDING withdrawal at most this often. */
const VERIFY_INTERVAL_MS = 30_000;

/** Merchants' withdrawals: create, cancel, list, read, verify; and the limits that apply to them. */
export function withdrawalRoutes(deps: WithdrawalRouteDeps): Route[] {
  return [...commandRoutes(deps), ...queryRoutes(deps), limitsRoute(deps), quoteRoute(deps)];
}

const READ = { tag: 'Withdrawals', auth: { by: 'key', scope: 'withdrawals:read' } } as const;
const WRITE = {
  tag: 'Withdrawals',
  auth: { by: 'key', scope: 'withdrawals:write' },
  serialize: 'merchantBalance',
} as const;

function commandRoutes({ clock, findProvider }: WithdrawalRouteDeps): Route[] {
  return [
    writeRoute('POST /api/checkout/withdrawal', {
      ...WRITE,
      operationId: 'createWithdrawal',
      audit: 'withdrawal.create',
      stepUp: 'live',
      summary: 'Request a withdrawal; its money is reserved at once, and it is PENDING until it is paid or has failed',
      description:
        'Idempotent by requestId, without an expiry: a repeat with the same body returns the same withdrawal with 200. ' +
        'Concurrent requests of one merchant are queued; where the queue is full the response is 429. ' +
        'From the amount of the policy of the merchant on it is AWAITING_CONFIRMATION until another person confirms it in the portal, and CANCELLED after 7 days without.',
      rateLimit: 'burst',
      body: schema.NewWithdrawal,
      responses: { 200: schema.Withdrawal, 202: schema.Withdrawal },
      errors: [
        'INSUFFICIENT_BALANCE',
        'DAILY_LIMIT_EXCEEDED',
        'CHANNEL_DISABLED',
        'CHANNEL_NOT_AVAILABLE',
        'DUPLICATE_REFERENCE',
        'AMOUNT_BELOW_MINIMUM',
        'AMOUNT_ABOVE_MAXIMUM',
      ],
      handle: async ({ caller, tx, body }) => {
        const { amount, currency: _, ...rest } = body;
        const request = { ...rest, amountSantim: toSantim(amount), requestedBy: actorOf(caller) };
        const created = await createWithdrawal({ tx, clock, findProvider }, scopeOf(caller), request);
        const message = created.isNew ? 'Withdrawal requested' : 'This withdrawal was requested before';
        const data = presentWithdrawal(created.row);
        return { status: created.isNew ? 202 : 200, message, data, audit: created.isNew ? auditOf(data) : null };
      },
    }),
    writeRoute('POST /api/checkout/withdrawal/:withdrawalId/cancel', {
      ...WRITE,
      operationId: 'cancelWithdrawal',
      audit: 'withdrawal.cancel',
      summary: 'Cancel a withdrawal that was not sent yet',
      params: schema.WithdrawalParams,
      responses: { 200: schema.Withdrawal },
      errors: ['INVALID_STATE'],
      handle: async ({ caller, tx, params }) => {
        const row = await findWithdrawal(tx.trx, scopeOf(caller), params.withdrawalId);
        const cancelled = row.status === 'CANCELLED' ? row : await cancelWithdrawal(tx, row, clock());
        const changed = changedFields({ status: row.status }, { status: cancelled.status });
        const audit = changed && { ...changed, resourceId: row.id };
        return { message: 'Withdrawal cancelled', data: presentWithdrawal(cancelled), audit };
      },
    }),
  ];
}

function auditOf(created: ReturnType<typeof presentWithdrawal>): AuditedFields {
  const { withdrawalRequestId: resourceId, requestId, amount, channel, destination } = created;
  return { resourceId, after: { requestId, amount, channel, destination } };
}

function queryRoutes({ db, clock, checkPayout }: WithdrawalRouteDeps): Route[] {
  return [
    readRoute('GET /api/checkout/withdrawal', {
      ...READ,
      operationId: 'listWithdrawals',
      summary: 'Withdrawals of a range of days, newest first',
      query: schema.WithdrawalListQuery,
      responses: { 200: z.array(schema.Withdrawal) },
      paginated: true,
      handle: async ({ caller, query }) => {
        const { status, stage, channel, search } = query;
        const range = readDayRange(query, clock());
        const narrowed = { statuses: status ?? null, stage, channel, search };
        const filter: WithdrawalFilter = { ...scopeOf(caller), range, ...narrowed };
        const { rows, pagination } = await listWithdrawals(db, filter, readPage(query));
        return { message: 'Withdrawals retrieved', data: rows.map(presentWithdrawal), pagination };
      },
    }),
    readRoute('GET /api/checkout/withdrawal/:withdrawalId', {
      ...READ,
      operationId: 'getWithdrawal',
      summary: 'One withdrawal with its timeline',
      params: schema.WithdrawalParams,
      responses: { 200: schema.WithdrawalDetail },
      handle: async ({ caller, params }) => {
        const row = await findWithdrawal(db, scopeOf(caller), params.withdrawalId);
        return { message: 'Withdrawal retrieved', data: await presentWithTimeline(db, row) };
      },
    }),
    readRoute('GET /api/checkout/withdrawal/verify/:withdrawal_requestID', {
      ...READ,
      operationId: 'verifyWithdrawal',
      summary: "A withdrawal's status; queries the provider if the last query is more than 30 s ago",
      params: schema.VerifyParams,
      responses: { 200: schema.WithdrawalDetail },
      handle: async ({ caller, params }) => {
        const found = await findWithdrawal(db, scopeOf(caller), params.withdrawal_requestID);
        // Only sent withdrawals are queried: sending is the workflow's.
        const isSent = found.stage === 'SUBMITTED' || found.stage === 'UNKNOWN';
        const { row } = isSent
          ? await checkPayout(found.id, { minIntervalMs: VERIFY_INTERVAL_MS, queryOnly: true, notifyWorkflow: true })
          : { row: found };
        return { message: `Withdrawal is ${row.status}`, data: await presentWithTimeline(db, row) };
      },
    }),
  ];
}

async function presentWithTimeline(db: Database, row: WithdrawalRow) {
  return { ...presentWithdrawal(row), timeline: await readTimeline(db, row.id) };
}

function limitsRoute({ db, clock, findProvider }: WithdrawalRouteDeps): Route {
  return readRoute('GET /api/checkout/limits', {
    ...READ,
    operationId: 'listLimits',
    summary: 'The limits of each channel, in and out: per payment, per day, and what is left today',
    responses: { 200: z.array(schema.ChannelLimits) },
    handle: async ({ caller }) => {
      const scope: MerchantScope = scopeOf(caller);
      const [channels, usedToday] = await Promise.all([
        listChannels(db, scope, findProvider),
        withdrawnSince(db, scope, startOfAddisDay(addisDay(clock()))),
      ]);
      const data = channels.map(({ channel, payIn, payOut }) => ({
        channel,
        currency: 'ETB',
        payoutTo: [...(findProvider(channel, scope.environment)?.capabilities.payoutTo ?? [])],
        payIn: presentLimits(payIn, 0n),
        payOut: presentLimits(payOut, usedToday.get(channel) ?? 0n),
      }));
      return { message: 'Limits retrieved', data };
    },
  });
}

function quoteRoute({ db, clock, findProvider }: WithdrawalRouteDeps): Route {
  return readRoute('GET /api/checkout/withdrawal/quote', {
    ...READ,
    operationId: 'quoteWithdrawal',
    summary: 'The fee of a withdrawal requested now, what is left today, and why it would be rejected',
    description:
      'Creates nothing, and holds nothing: fee, limits and balance may differ a moment later. A withdrawal is sent at once unless a second person has to confirm it, or it is under review.',
    query: schema.WithdrawalQuoteQuery,
    responses: { 200: schema.WithdrawalQuote },
    handle: async ({ caller, query: { channel, amount: amountSantim } }) => {
      const scope: MerchantScope = scopeOf(caller);
      const now = clock();
      const [state, usedToday, rule, { availableSantim }, secondPersonFrom] = await Promise.all([
        findChannel(db, { ...scope, channel }, findProvider),
        withdrawnSince(db, scope, startOfAddisDay(addisDay(now))),
        readEffectiveRule(db, { merchantId: scope.merchantId, channel, direction: 'PAY_OUT', at: now }),
        readBalance(db, scope),
        readSecondPersonFrom(db, scope.merchantId),
      ]);
      const usedSantim = usedToday.get(channel) ?? 0n;
      // While its provider does not respond, a withdrawal is accepted and waits.
      const isUsable = state.usable || state.reason === 'UNAVAILABLE';
      const day = dayLimit(state.payOut, usedSantim);
      const problems = [
        isUsable ? null : channelRejected(channel, state.reason ?? 'NOT_CONFIGURED', state),
        amountLimitError(channel, { ...state.payOut, day }, amountSantim),
      ];
      const data = {
        ...quotePayout('withdrawal', { amountSantim, rule, availableSantim }, problems),
        channel,
        payoutTo: [...(findProvider(channel, scope.environment)?.capabilities.payoutTo ?? [])],
        limits: presentLimits(state.payOut, usedSantim),
        needsSecondPerson: secondPersonFrom !== null && amountSantim >= secondPersonFrom,
      };
      return { message: 'Quote computed', data };
    },
  });
}

function presentLimits(limits: AmountLimits, usedSantim: bigint) {
  const day = dayLimit(limits, usedSantim);
  return {
    min: toBirr(limits.minSantim),
    max: toBirr(limits.maxSantim),
    daily: day && toBirr(day.dailySantim),
    remainingToday: day && toBirr(day.leftSantim),
  };
}
