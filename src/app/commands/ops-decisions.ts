import { listKeys } from '../../access/api-keys.ts';
import type { AuditContext } from '../../access/audit.ts';
import { findOperator, type Operator } from '../../access/operators.ts';
import { PERMISSIONS, type Action } from '../../access/permissions.ts';
import {
  acceptPayment,
  approveWithdrawalAs,
  rejectWithdrawalAs,
  returnPayment,
  resolveWithdrawalAs,
} from '../../backoffice/decisions.ts';
import { decideKyc } from '../../backoffice/kyc.ts';
import { changeMerchantStatus } from '../../backoffice/merchants.ts';
import {
  presentApplication,
  presentBankAccount,
  presentHeldDecision,
  presentMerchant,
} from '../../backoffice/present.ts';
import {
  decideBankAccount,
  decideSettlement,
  type BankAccountDecision,
  type SettlementCommand,
} from '../../backoffice/settlements.ts';
import { requireRole } from '../../http/auth.ts';
import type { OperatorRole } from '../../http/route.ts';
import { UsageError, type Row } from '../../lib/command-line.ts';
import { addisDay, isDay, startOfAddisDay } from '../../lib/dates.ts';
import type { Queryable } from '../../lib/db.ts';
import { AppError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { parseBirr, type Santim } from '../../lib/money.ts';
import type { Environment } from '../../lib/scope.ts';
import { findAccountScope } from '../../settlements/bank-account/verify.ts';
import { lateCreditIssue } from '../../settlements/late-credit.ts';
import { RESOLUTIONS } from '../../withdrawals/resolve.ts';
import type { OpsCommandDeps, OpsOptions, OpsVerb } from './ops-options.ts';

type Deps = Pick<OpsCommandDeps, 'db' | 'runInTransaction' | 'clock' | 'demoOperatorId' | 'calendarChanged'>;

/** Who acts: the operator that was named, or the demo data's. Throws unless it is there, active, and has a role for it. */
export async function requireOperator(
  db: Queryable,
  { operator: named }: Pick<OpsOptions, 'operator'>,
  { demoOperatorId, roles }: { demoOperatorId: string; roles: readonly OperatorRole[] },
): Promise<Operator> {
  const operator = await findOperator(db, named ?? demoOperatorId).catch((error: unknown) => {
    if (named !== undefined) throw error;
    throw new UsageError('Say who acts: --operator opr_… ("meskot ops staff" lists them).');
  });
  if (!operator.active) throw new AppError('INSUFFICIENT_SCOPE', `${operator.name} is switched off.`);
  return requireRole(operator, roles);
}

/** Runs a change as the operator who acts. */
export async function act<T>(
  { runInTransaction, clock, demoOperatorId }: Pick<Deps, 'runInTransaction' | 'clock' | 'demoOperatorId'>,
  { options, action }: { options: OpsOptions; action: Action },
  work: (context: AuditContext) => Promise<T>,
): Promise<T> {
  return runInTransaction(async (tx) => {
    const operator = await requireOperator(tx.trx, options, { demoOperatorId, roles: PERMISSIONS[action] });
    return work({ tx, operatorId: operator.id, requestId: newId('req'), at: clock() });
  });
}

/** Undoes what was just done to something live, unless that was meant. */
function requireLive(options: OpsOptions, id: string, environment: Environment): void {
  if (environment === 'live' && !options.live) throw new UsageError(`${id} is live: add --live.`);
}

export const approve =
  (deps: Deps): OpsVerb =>
  async ({ options, args }) => {
    const id = singleArgument(args, 'approve');
    const { reason } = options;
    switch (prefixOf(id)) {
      case 'wd':
        return act(deps, { options, action: 'withdrawal.approve' }, async (context) =>
          shownMoney(options, await approveWithdrawalAs(context, { withdrawalId: id, reason })),
        );
      case 'stl':
        return act(deps, { options, action: 'settlement.approve' }, async (context) =>
          shownMoney(options, await decideSettlement(context, id, { type: 'approve', reason })),
        );
      case 'bac':
        return act(deps, { options, action: 'bank-account.verify' }, (context) =>
          sayOfAccount(context, { options, decision: { type: 'verify', bankAccountId: id, reason } }),
        );
      case 'mrc':
        return act(deps, { options, action: 'kyc.approve' }, async (context) => {
          const scope = { merchantId: id, environment: options.live ? 'live' : 'sandbox' } as const;
          const submission = submissionOf(options);
          return presentApplication(await decideKyc(context, scope, { type: 'approve', submission, reason }));
        });
      default:
        throw new UsageError(`approve takes wd_…, stl_…, bac_… or mrc_…, got "${id}".`);
    }
  };

export const reject =
  (deps: Deps): OpsVerb =>
  async ({ options, args }) => {
    const id = singleArgument(args, 'reject');
    const reason = given(options, 'reason');
    switch (prefixOf(id)) {
      case 'wd':
        return act(deps, { options, action: 'withdrawal.reject' }, async (context) =>
          shownMoney(options, await rejectWithdrawalAs(context, { withdrawalId: id, reason })),
        );
      case 'stl':
        return act(deps, { options, action: 'settlement.reject' }, async (context) =>
          shownMoney(options, await decideSettlement(context, id, { type: 'reject', reason })),
        );
      case 'bac':
        return act(deps, { options, action: 'bank-account.reject' }, (context) =>
          sayOfAccount(context, { options, decision: { type: 'reject', bankAccountId: id, reason } }),
        );
      case 'mrc':
        return act(deps, { options, action: 'kyc.reject' }, async (context) => {
          const scope = { merchantId: id, environment: options.live ? 'live' : 'sandbox' } as const;
          const submission = submissionOf(options);
          return presentApplication(await decideKyc(context, scope, { type: 'reject', submission, reason }));
        });
      case 'txn':
        return act(deps, { options, action: 'payment.return' }, async (context) => {
          const choice = { transactionId: id, attemptId: given(options, 'attempt') };
          const decision = await returnPayment(context, { ...choice, reason, reference: given(options, 'reference') });
          requireLive(options, id, decision.transaction.environment);
          return presentHeldDecision(decision);
        });
      default:
        throw new UsageError(`reject takes wd_…, stl_…, bac_…, mrc_… or txn_…, got "${id}".`);
    }
  };

export const accept =
  (deps: Deps): OpsVerb =>
  async ({ options, args }) => {
    const id = singleArgument(args, 'accept');
    return act(deps, { options, action: 'payment.accept' }, async (context) => {
      const choice = { transactionId: id, attemptId: given(options, 'attempt') };
      const decision = await acceptPayment(context, { ...choice, reason: options.reason });
      requireLive(options, id, decision.transaction.environment);
      return presentHeldDecision(decision);
    });
  };

/** What became of a withdrawal that its provider leaves open. */
export const resolve =
  (deps: Deps): OpsVerb =>
  async ({ options, args }) => {
    const withdrawalId = singleArgument(args, 'resolve');
    const outcome = RESOLUTIONS.find((one) => one.toLowerCase() === options.as);
    if (!outcome) throw new UsageError('--as must be completed or failed.');
    const paidSantim = birrOption(options, 'paid');
    const said = { providerReference: given(options, 'reference'), reason: given(options, 'reason') };
    return act(deps, { options, action: 'withdrawal.resolve' }, async (context) => {
      const { row, missing } = await resolveWithdrawalAs(context, { withdrawalId, outcome, paidSantim, ...said });
      return { ...shownMoney(options, row), othersNeeded: missing };
    });
  };

type BankSays = Exclude<SettlementCommand['type'], 'approve' | 'reject'>;

/** What the bank did with a settlement: it was sent, it is credited, it has failed … */
export const recordBankResult =
  (deps: Deps, type: BankSays): OpsVerb =>
  async ({ options, args }) => {
    const id = singleArgument(args, type);
    const decision = bankWord(type, { options, now: deps.clock() });
    return act(deps, { options, action: `settlement.${type}` }, async (context) => {
      const row = await decideSettlement(context, id, decision);
      const issue = decision.type === 'credited' ? lateCreditIssue(row, decision.bankReference) : null;
      return { ...shownMoney(options, row), ...(issue !== null && { issue }) };
    });
  };

function bankWord(type: BankSays, { options, now }: { options: OpsOptions; now: Date }): SettlementCommand {
  const { reference: bankReference, reason } = options;
  switch (type) {
    case 'sent':
      return { type, bankReference, reason };
    case 'failed':
      return { type, bankReference, reason: given(options, 'reason') };
    case 'returned':
      return { type, bankReference: given(options, 'reference'), reason: given(options, 'reason') };
    case 'book-credit':
    case 'dismiss-credit':
      return { type, reason: given(options, 'reason') };
    case 'credited': {
      const day = options.on ?? addisDay(now);
      if (!isDay(day)) throw new UsageError(`--on must be a day as YYYY-MM-DD, got "${day}".`);
      const creditedAt = startOfAddisDay(day);
      const amountSantim = birrOption(options, 'amount');
      return { type, bankReference: given(options, 'reference'), creditedAt, amountSantim, reason };
    }
    default:
      return type satisfies never;
  }
}

export const suspend = (deps: Deps): OpsVerb => decideAbout(deps, 'suspend', 'SUSPENDED');
export const resume = (deps: Deps): OpsVerb => decideAbout(deps, 'resume', 'ACTIVE');

const decideAbout =
  (deps: Deps, verb: 'suspend' | 'resume', status: 'SUSPENDED' | 'ACTIVE'): OpsVerb =>
  async ({ options, args }) => {
    const merchantId = singleArgument(args, verb);
    const reason = given(options, 'reason');
    return act(deps, { options, action: `merchant.${verb}` }, async (context) => {
      const liveKeys = await listKeys(context.tx.trx, { merchantId, environment: 'live' });
      if (liveKeys.some(({ revokedAt }) => revokedAt === null)) requireLive(options, merchantId, 'live');
      return presentMerchant(await changeMerchantStatus(context, { merchantId, status, reason }));
    });
  };

async function sayOfAccount(
  context: AuditContext,
  { options, decision }: { options: OpsOptions; decision: BankAccountDecision & { bankAccountId: string } },
): Promise<Row> {
  const scope = await findAccountScope(context.tx.trx, decision.bankAccountId);
  requireLive(options, decision.bankAccountId, scope.environment);
  return presentBankAccount(await decideBankAccount(context, scope, decision));
}

type Money = { id: string; merchantId: string; environment: Environment; status: string; amountSantim: bigint };

/** A withdrawal or settlement as it stands now. */
function shownMoney(options: OpsOptions, row: Money & { stage?: string }): Row {
  const { id, merchantId, environment, status, stage } = row;
  requireLive(options, id, environment);
  const amount = Number(row.amountSantim) / 100;
  return { id, merchantId, environment, amount, status, ...(stage !== undefined && { stage }) };
}

const prefixOf = (id: string): string => id.split('_')[0] ?? '';

/** The one word that must follow. */
export function singleArgument([decision, ...more]: readonly string[], after: string): string {
  if (decision === undefined) throw new UsageError(`Say what to ${after}.`);
  nothingMore(more);
  return decision;
}

/** Refuses words that would be passed over. */
export function nothingMore(words: readonly string[], hint = ''): void {
  if (words.length > 0) throw new UsageError(`There is nothing to do with "${words.join(' ')}". ${hint}`.trim());
}

/** Which submission of an application was read. */
function submissionOf({ submission = '' }: OpsOptions): number {
  if (/^\d{1,9}$/.test(submission)) return Number(submission);
  throw new UsageError('--submission is needed: the number of what you have read ("meskot ops queue" shows it).');
}

/** In santim; undefined where it is not said. */
function birrOption(options: OpsOptions, name: 'amount' | 'paid'): Santim | undefined {
  const text = options[name];
  if (text === undefined) return undefined;
  const santim = parseBirr(text);
  if (santim === null || santim === 0n) throw new UsageError(`--${name} must be an amount as 99.50, got "${text}".`);
  return santim;
}

function given(options: OpsOptions, name: 'attempt' | 'reason' | 'reference'): string {
  const text = options[name]?.trim() ?? '';
  if (text === '') throw new UsageError(`--${name} is needed.`);
  return text;
}
