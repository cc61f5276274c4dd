import { z } from 'zod';

import { readRoute, type Route } from '../../http/route.ts';
import { createValidator } from '../../http/validate.ts';
import { readBalance } from '../../ledger/balance.ts';
import { readEffectiveRule } from '../../ledger/fees.ts';
import { quotePayout } from '../../ledger/quote.ts';
import type { Clock } from '../../lib/clock.ts';
import { addisDay, startOfAddisDay } from '../../lib/dates.ts';
import type { Database } from '../../lib/db.ts';
import { AppError, found, invalid, presentProblem } from '../../lib/errors.ts';
import { toBirr, toSantim, type Santim } from '../../lib/money.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import type { Channel } from '../../merchants/channels/channel.ts';
import { amountLimitError } from '../../merchants/channels/limits.ts';
import { channelRejected } from '../../merchants/channels/operations.ts';
import { listChannels, type AmountLimits } from '../../merchants/channels/queries.ts';
import { readSecondPersonFrom } from '../../merchants/operations.ts';
import type { FindProvider } from '../../providers/provider.ts';
import { dayLimit, destinationError, reuseError } from './create.ts';
import { presentWithdrawal } from './present.ts';
import { listByRequestIds, withdrawnSince, type Destination } from './queries.ts';
import * as schema from './schema.ts';

type Deps = { db: Database; clock: Clock; findProvider: FindProvider };

const READ = { tag: 'Withdrawals', auth: { by: 'key', scope: 'withdrawals:read' } } as const;

/** What a withdrawal may be, and what it would cost. */
export function quoteRoutes(deps: Deps): Route[] {
  return [limitsRoute(deps), quoteRoute(deps), quotesRoute(deps)];
}

function limitsRoute({ db, clock, findProvider }: Deps): Route {
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

function quoteRoute(deps: Deps): Route {
  return readRoute('GET /api/checkout/withdrawal/quote', {
    ...READ,
    operationId: 'quoteWithdrawal',
    summary: 'The fee of a withdrawal requested now, what is left today, and why it would be rejected',
    description:
      'Creates nothing, and holds nothing: fee, limits and balance may differ a moment later. A withdrawal is sent at once unless a second person has to confirm it, or it is under review.',
    query: schema.WithdrawalQuoteQuery,
    responses: { 200: schema.WithdrawalQuote },
    handle: async ({ caller, query: { channel, amount: amountSantim } }) => {
      const { quote } = await createQuoter(deps, scopeOf(caller), [channel]);
      return { message: 'Quote computed', data: quote({ channel, amountSantim }) };
    },
  });
}

function quotesRoute(deps: Deps): Route {
  return readRoute('POST /api/checkout/withdrawal/quotes', {
    ...READ,
    operationId: 'quoteWithdrawals',
    summary: 'The fees of up to 500 withdrawals requested one after the other, and why each would be rejected',
    description:
      'Creates nothing, and holds nothing. Each is the body of createWithdrawal; balance and limits are those that the ones before it leave. One that was requested before is returned as it is now: a repeat requests it no second time.',
    rateLimit: 'list',
    body: schema.QuotedWithdrawals,
    responses: { 200: schema.WithdrawalQuotes },
    handle: async ({ caller, body: { withdrawals } }) => {
      const data = await quoteAll(deps, scopeOf(caller), withdrawals.map(readRequest));
      return { message: 'Quotes computed', data };
    },
  });
}

const validate = createValidator({ body: schema.NewWithdrawal }, 'quoteWithdrawals: a withdrawal');

type Requested = Omit<z.output<typeof schema.NewWithdrawal>, 'amount'> & { amountSantim: Santim };

/** The body of a request, or the error that it would get. */
function readRequest(given: unknown): Requested | AppError {
  try {
    const { body } = validate({ params: {}, query: {}, body: given });
    const { amount, ...rest } = body as z.output<typeof schema.NewWithdrawal>;
    return { ...rest, amountSantim: toSantim(amount) };
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

const AMOUNTS = ['amount', 'fee', 'feeTax', 'totalDebit'] as const;

async function quoteAll(deps: Deps, scope: MerchantScope, given: readonly (Requested | AppError)[]) {
  const requests = given.filter((one): one is Requested => !(one instanceof AppError));
  const [{ quote, available }, existing] = await Promise.all([
    createQuoter(deps, scope, [...new Set(requests.map(({ channel }) => channel))]),
    listByRequestIds(
      deps.db,
      scope,
      requests.map(({ requestId }) => requestId),
    ),
  ]);
  const seen = new Set<string>();
  const lines = given.map((request) => {
    if (request instanceof AppError) return { problems: [presentProblem(request)] };
    const { requestId } = request;
    const issue = `"${requestId}" is that of an earlier one too`;
    const repeated = seen.has(requestId) ? invalid('requestId', { issue, code: 'repeated' }) : null;
    seen.add(requestId);
    const row = existing.get(requestId);
    if (row && repeated === null) {
      const reused = reuseError(row, request);
      return reused ? { problems: [presentProblem(reused)] } : { problems: [], withdrawal: presentWithdrawal(row) };
    }
    return quote({ ...request, error: repeated });
  });
  const priced = lines.filter((line) => 'amount' in line);
  const sumOf = (name: (typeof AMOUNTS)[number]): number =>
    toBirr(priced.reduce((sum, line) => sum + toSantim(line[name]), 0n));
  const sums = AMOUNTS.map((name) => [name, sumOf(name)] as const);
  return { lines, total: { count: priced.length, ...Object.fromEntries(sums) }, available: toBirr(available) };
}

type Wanted = {
  channel: Channel;
  amountSantim: Santim;
  destination?: Destination;
  /** Why it is rejected anyway. */
  error?: AppError | null;
};

/**
 * What quotes depend on, read once. `quote` quotes one withdrawal after the other, each as if those before it without a
 * problem had been requested.
 */
async function createQuoter({ db, clock, findProvider }: Deps, scope: MerchantScope, wanted: readonly Channel[]) {
  const now = clock();
  const { merchantId, environment } = scope;
  const [channels, usedToday, rules, { availableSantim }, secondPersonFrom] = await Promise.all([
    listChannels(db, scope, findProvider),
    withdrawnSince(db, scope, startOfAddisDay(addisDay(now))),
    Promise.all(
      wanted.map(async (channel) => {
        const rule = await readEffectiveRule(db, { merchantId, channel, direction: 'PAY_OUT', at: now });
        return [channel, { rule, payoutTo: findProvider(channel, environment)?.capabilities.payoutTo ?? [] }] as const;
      }),
    ),
    readBalance(db, scope),
    readSecondPersonFrom(db, merchantId),
  ]);
  const byChannel = new Map(rules);
  const used = new Map(usedToday);
  let left = availableSantim;
  const quote = ({ channel, amountSantim, destination, error = null }: Wanted) => {
    const state = found(
      channels.find((one) => one.channel === channel),
      'channel',
    );
    const { rule, payoutTo } = found(byChannel.get(channel), 'channel');
    const usedSantim = used.get(channel) ?? 0n;
    // While its provider does not respond, a withdrawal is accepted and waits.
    const isUsable = state.usable || state.reason === 'UNAVAILABLE';
    const quoted = quotePayout('withdrawal', { amountSantim, rule, availableSantim: left }, [
      error,
      isUsable ? null : channelRejected(channel, state.reason ?? 'NOT_CONFIGURED', state),
      isUsable && destination ? destinationError(channel, { kind: destination.kind, payoutTo }) : null,
      amountLimitError(channel, { ...state.payOut, day: dayLimit(state.payOut, usedSantim) }, amountSantim),
    ]);
    if (quoted.problems.length === 0) {
      left -= toSantim(quoted.totalDebit);
      used.set(channel, usedSantim + amountSantim);
    }
    return {
      ...quoted,
      channel,
      payoutTo: [...payoutTo],
      limits: presentLimits(state.payOut, usedSantim),
      needsSecondPerson: secondPersonFrom !== null && amountSantim >= secondPersonFrom,
    };
  };
  return { quote, available: availableSantim };
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
