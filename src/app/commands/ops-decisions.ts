import { listKeys } from '../../access/api-keys.ts';
import { UsageError, type Row } from '../../lib/command-line.ts';
import { addisDay } from '../../lib/dates.ts';
import { parseBirr, toBirr } from '../../lib/money.ts';
import { findAccountScope } from '../../settlements/bank-account/verify.ts';
import { RESOLUTIONS } from '../../withdrawals/resolve.ts';
import { callCommand, type CommandResult } from './call-route.ts';
import type { OpsCommandDeps, OpsOptions, OpsVerb } from './ops-options.ts';

type Deps = Pick<OpsCommandDeps, 'db' | 'runInTransaction' | 'clock' | 'demoOperatorId' | 'routes'>;
type Command = { id: string; path: string; body: object };

/** Posts a command about one resource; one about a live resource is rolled back without --live. */
async function post(deps: Deps, options: OpsOptions, { id, path, body }: Command): Promise<CommandResult> {
  const check = ({ environment }: CommandResult['data']): void => requireLive(options, id, environment === 'live');
  return callCommand(deps, { by: options, check }, { method: 'POST', path: `/api/ops/${path}`, body });
}

function requireLive(options: OpsOptions, id: string, isLive: boolean): void {
  if (isLive && !options.live) throw new UsageError(`${id} is live: add --live.`);
}

export const approve =
  (deps: Deps): OpsVerb =>
  async ({ options, args }) => {
    const id = singleArgument(args, 'approve');
    const { reason } = options;
    switch (prefixOf(id)) {
      case 'wd':
        return moneyRow(await post(deps, options, { id, path: `withdrawals/${id}/approve`, body: { reason } }));
      case 'stl':
        return moneyRow(await post(deps, options, { id, path: `settlements/${id}/approve`, body: { reason } }));
      case 'bac':
        return decideAccount(deps, options, { id, type: 'verify', reason });
      case 'mrc':
        return decideKyc(deps, options, { id, type: 'approve', reason });
      default:
        throw new UsageError(`approve takes wd_…, stl_…, bac_… or mrc_…, got "${id}".`);
    }
  };

export const reject =
  (deps: Deps): OpsVerb =>
  async ({ options, args }) => {
    const id = singleArgument(args, 'reject');
    const reason = requiredOption(options, 'reason');
    switch (prefixOf(id)) {
      case 'wd':
        return moneyRow(await post(deps, options, { id, path: `withdrawals/${id}/reject`, body: { reason } }));
      case 'stl':
        return moneyRow(await post(deps, options, { id, path: `settlements/${id}/reject`, body: { reason } }));
      case 'bac':
        return decideAccount(deps, options, { id, type: 'reject', reason });
      case 'mrc':
        return decideKyc(deps, options, { id, type: 'reject', reason });
      case 'txn': {
        const attemptId = requiredOption(options, 'attempt');
        const body = { attemptId, reason, reference: requiredOption(options, 'reference') };
        return (await post(deps, options, { id, path: `transactions/${id}/reject`, body })).data;
      }
      default:
        throw new UsageError(`reject takes wd_…, stl_…, bac_…, mrc_… or txn_…, got "${id}".`);
    }
  };

export const accept =
  (deps: Deps): OpsVerb =>
  async ({ options, args }) => {
    const id = singleArgument(args, 'accept');
    const body = { attemptId: requiredOption(options, 'attempt'), reason: options.reason };
    return (await post(deps, options, { id, path: `transactions/${id}/accept`, body })).data;
  };

/** Resolves a withdrawal whose outcome the provider leaves open. */
export const resolve =
  (deps: Deps): OpsVerb =>
  async ({ options, args }) => {
    const id = singleArgument(args, 'resolve');
    const outcome = RESOLUTIONS.find((one) => one.toLowerCase() === options.as);
    if (!outcome) throw new UsageError('--as must be completed or failed.');
    const paidAmount = birrOption(options, 'paid');
    const providerReference = requiredOption(options, 'reference');
    const body = { outcome, paidAmount, providerReference, reason: requiredOption(options, 'reason') };
    const result = await post(deps, options, { id, path: `withdrawals/${id}/resolve`, body });
    return { ...moneyRow(result), othersNeeded: result.data['othersNeeded'] ?? null };
  };

type BankResult = 'sent' | 'credited' | 'failed' | 'returned' | 'book-credit' | 'dismiss-credit';

/** Records what the bank did with a settlement. */
export const recordBankResult =
  (deps: Deps, type: BankResult): OpsVerb =>
  async ({ options, args }) => {
    const id = singleArgument(args, type);
    const body = bankResultBody(type, { options, now: deps.clock() });
    const result = await post(deps, options, { id, path: `settlements/${id}/${type}`, body });
    return { ...moneyRow(result), ...(result.status === 202 && { issue: result.message }) };
  };

function bankResultBody(type: BankResult, { options, now }: { options: OpsOptions; now: Date }): object {
  const { reference: bankReference, reason } = options;
  switch (type) {
    case 'sent':
      return { bankReference, reason };
    case 'failed':
      return { bankReference, reason: requiredOption(options, 'reason') };
    case 'returned':
      return { bankReference: requiredOption(options, 'reference'), reason: requiredOption(options, 'reason') };
    case 'book-credit':
    case 'dismiss-credit':
      return { reason: requiredOption(options, 'reason') };
    case 'credited':
      return {
        bankReference: requiredOption(options, 'reference'),
        creditedOn: options.on ?? addisDay(now),
        amount: birrOption(options, 'amount'),
        reason,
      };
    default:
      return type satisfies never;
  }
}

/** Suspends or resumes a merchant; one with live keys only with --live. */
export const changeMerchantStatus =
  (deps: Deps, verb: 'suspend' | 'resume'): OpsVerb =>
  async ({ options, args }) => {
    const id = singleArgument(args, verb);
    const body = { reason: requiredOption(options, 'reason') };
    const liveKeys = await listKeys(deps.db, { merchantId: id, environment: 'live' });
    const isLive = liveKeys.some(({ revokedAt }) => revokedAt === null);
    requireLive(options, id, isLive);
    return (await post(deps, options, { id, path: `merchants/${id}/${verb}`, body })).data;
  };

async function decideAccount(
  deps: Deps,
  options: OpsOptions,
  { id, type, reason }: { id: string; type: 'verify' | 'reject'; reason: string | undefined },
): Promise<Row> {
  const { merchantId, environment } = await findAccountScope(deps.db, id);
  const body = { environment, bankAccountId: id, reason };
  return (await post(deps, options, { id, path: `merchants/${merchantId}/bank-account/${type}`, body })).data;
}

async function decideKyc(
  deps: Deps,
  options: OpsOptions,
  { id, type, reason }: { id: string; type: 'approve' | 'reject'; reason: string | undefined },
): Promise<Row> {
  const body = { environment: options.live ? 'live' : 'sandbox', submission: submissionOf(options), reason };
  return (await post(deps, options, { id, path: `merchants/${id}/kyc/${type}`, body })).data;
}

/** What is printed of a withdrawal or settlement. */
function moneyRow({ data }: CommandResult): Row {
  const { withdrawalId, settlementId, merchantId = null, environment = null, amount = null, ...rest } = data;
  const { status = null, stage } = rest;
  const id = withdrawalId ?? settlementId ?? null;
  return { id, merchantId, environment, amount, status, ...(stage !== undefined && { stage }) };
}

const prefixOf = (id: string): string => id.split('_')[0] ?? '';

/** The one argument of a verb. */
export function singleArgument([argument, ...more]: readonly string[], verb: string): string {
  if (argument === undefined) throw new UsageError(`Say what to ${verb}.`);
  nothingMore(more);
  return argument;
}

/** Rejects arguments that would be ignored. */
export function nothingMore(words: readonly string[], hint = ''): void {
  if (words.length > 0) throw new UsageError(`There is nothing to do with "${words.join(' ')}". ${hint}`.trim());
}

/** The submission that was read. */
function submissionOf({ submission = '' }: OpsOptions): number {
  if (/^\d{1,9}$/.test(submission)) return Number(submission);
  throw new UsageError('--submission is needed: the number of what you have read ("meskot ops queue" shows it).');
}

/** In birr; undefined where the option is not given. */
function birrOption(options: OpsOptions, name: 'amount' | 'paid'): number | undefined {
  const text = options[name];
  if (text === undefined) return undefined;
  const santim = parseBirr(text);
  if (santim === null || santim === 0n) throw new UsageError(`--${name} must be an amount as 99.50, got "${text}".`);
  return toBirr(santim);
}

function requiredOption(options: OpsOptions, name: 'attempt' | 'reason' | 'reference'): string {
  const text = options[name]?.trim() ?? '';
  if (text === '') throw new UsageError(`--${name} is needed.`);
  return text;
}
