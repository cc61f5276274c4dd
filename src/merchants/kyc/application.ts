import { isDeepStrictEqual } from 'node:util';

import { requireAnotherPerson, type Actor } from '../../access/separation-of-duties.ts';
import { updateRow, type Database } from '../../lib/db.ts';
import { invalid, invalidFields, invalidState } from '../../lib/errors.ts';
import { SANDBOX_REASONS } from '../../lib/sandbox-reasons.ts';
import { SANDBOX_OPERATOR, SANDBOX_REVIEW_MS } from '../../lib/sandbox-review.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import { recordTimeline } from '../../lib/timeline.ts';
import type { UnitOfWork, RunInTransaction } from '../../outbox/record.ts';
import {
  applicationId,
  findTier,
  kycOf,
  listDocuments,
  lockApplication,
  missingFrom,
  readApplication,
  type ApplicationRow,
  type Kyc,
} from './queries.ts';
import type { ApplicationDetails, TimelineKind } from './schema.ts';
import { EDITABLE, statusesBefore } from './states.ts';

export type Step = MerchantScope & { actor: string; at: Date };

export type Decision = MerchantScope & Actor & { at: Date };

/** Replaces the application's details. Throws INVALID_STATE once it was submitted. */
export async function saveApplication(tx: UnitOfWork, step: Step, details: ApplicationDetails) {
  const before = await lockForEdit(tx, step);
  if (isDeepStrictEqual(before.details, details)) return before;
  const entry = { at: step.at, actor: step.actor, detail: { fields: Object.keys(details) } };
  return update(tx, before, { changes: { details }, entry: { ...entry, kind: 'application.saved' } });
}

/**
 * Submits it to the operators in live; the sandbox decides by itself after 5 s. The timeline retains the submitted details.
 * Throws INVALID_STATE when it is submitted already, and VALIDATION_ERROR with everything that is missing.
 */
export async function submitApplication(tx: UnitOfWork, { at, actor, ...scope }: Step): Promise<ApplicationRow> {
  const before = await lockForEdit(tx, { at, actor, ...scope });
  const documents = await listDocuments(tx.trx, scope);
  const { details } = before;
  const missing = missingFrom(details, documents);
  if (missing.length > 0) {
    const issues = missing.map((field) => ({ field, issue: 'is missing', code: 'document_missing' as const }));
    throw invalidFields(issues, `The application is not complete. Missing: ${missing.join(', ')}.`);
  }
  const submission = before.submissions + 1;
  const isAutomatic = before.environment === 'sandbox' && sandboxDecision(details) !== null;
  const changes = {
    status: 'SUBMITTED',
    submissions: submission,
    reviewMessage: null,
    submittedBy: actor,
    submittedAt: at,
    autoDecideAt: isAutomatic ? new Date(at.getTime() + SANDBOX_REVIEW_MS) : null,
    decidedBy: null,
    decidedAt: null,
  } as const;
  const detail = { submission, details, documents: documents.map(({ id }) => id) };
  return update(tx, before, { changes, entry: { at, actor, kind: 'application.submitted', detail } });
}

/** The application, locked, if the merchant may change it now. Throws INVALID_STATE. */
export async function lockForEdit(tx: UnitOfWork, step: Step): Promise<ApplicationRow> {
  const row = await lockDecided(tx, step, step.at);
  if (EDITABLE.includes(row.status)) return row;
  const why = row.status === 'APPROVED' ? 'you are verified' : 'wait for the decision';
  throw invalidState(
    `Your application is ${row.status}, so it cannot be changed: ${why}. It can while it is ${EDITABLE.join(', ')}.`,
  );
}

/**
 * A decision of an operator. `submission`: the one that was read, so that a later one is not decided unread. The merchant
 * reads the `reason` of a rejection, and what is missing. `tier`: the full one unless given.
 */
export type KycCommand = {
  type: keyof typeof OUTCOMES;
  submission?: number | undefined;
  tier?: number | undefined;
  reason?: string | undefined;
};

const APPROVED_TIER = 2;

const OUTCOMES = {
  review: { status: 'UNDER_REVIEW', kind: 'review.started' },
  approve: { status: 'APPROVED', kind: 'review.approved' },
  reject: { status: 'REJECTED', kind: 'review.rejected' },
  'request-info': { status: 'MORE_INFO_NEEDED', kind: 'review.more_info_needed' },
  'change-tier': { status: 'APPROVED', kind: 'tier.changed' },
} as const;

/**
 * Starts the review of an application, decides it, or changes the tier of an APPROVED one. An approval gives it a tier above
 * 0; after all other decisions the merchant may apply again. Throws INVALID_STATE for the second of two concurrent decisions,
 * for an earlier submission, and in live for an approval or a higher tier by the operator behind the submission
 * (access/separation-of-duties.ts); VALIDATION_ERROR for an unknown tier.
 */
export async function decideKyc(tx: UnitOfWork, decision: Decision, command: KycCommand): Promise<ApplicationRow> {
  const { type, submission, reason = '' } = command;
  const { status, kind } = OUTCOMES[type];
  const tier = status === 'APPROVED' ? await ensureTier(tx, command.tier ?? APPROVED_TIER) : 0;
  const before = await lockApplication(tx.trx, decision);
  const allowed = type === 'change-tier' ? [status] : statusesBefore(status);
  if (!allowed.includes(before.status)) {
    const only = `that is possible only while it is ${allowed.join(' or ')}`;
    throw invalidState(`This application is ${before.status}: ${only}.`);
  }
  if (submission !== undefined && submission !== before.submissions) {
    const newer = `you decide about submission ${submission}, and submission ${before.submissions} waits`;
    throw invalidState(`This application was submitted again meanwhile: ${newer}. Read that one first.`);
  }
  if (tier > before.tier) {
    const { environment, submittedBy: preparedBy } = before;
    await requireAnotherPerson(tx.trx, decision, { environment, what: 'application', done: 'submitted', preparedBy });
  }
  const { at, operatorId } = decision;
  const details = { review: {}, approve: { tier }, reject: { reason }, 'request-info': { what: reason } };
  const detail = { ...details, 'change-tier': { tier, reason } }[type];
  const reviewMessage = type === 'reject' || type === 'request-info' ? reason : null;
  const decided = type === 'review' ? {} : { decidedBy: operatorId, decidedAt: at };
  const changes = { status, tier, reviewMessage, autoDecideAt: null, ...decided };
  return update(tx, before, { changes, entry: { at, actor: operatorId, kind, detail } });
}

async function ensureTier(tx: UnitOfWork, tier: number): Promise<number> {
  if (tier > 0 && (await findTier(tx.trx, tier))) return tier;
  throw invalid('tier', `must be the number of a tier above 0, got ${tier}`);
}

type Update = {
  changes: Partial<ApplicationRow>;
  entry: { at: Date; actor: string; kind: TimelineKind; detail: Record<string, unknown> };
};

/** Changes a locked application, with its timeline entry. */
async function update({ trx }: UnitOfWork, before: ApplicationRow, { changes, entry }: Update) {
  const row = { table: 'kyc_application', ...scopeOf(before) };
  await updateRow(trx, row, { ...changes, updatedAt: entry.at });
  await recordTimeline<TimelineKind>(trx, applicationId(before), entry);
  return { ...before, ...changes };
}

/** By the last two digits of the TIN; null leaves it to an operator, and all others are approved. */
const SANDBOX_DECISIONS: Readonly<Record<string, KycCommand | null>> = {
  '13': { type: 'reject', reason: SANDBOX_REASONS.SANDBOX_TIN_REJECTED },
  '14': null,
  '15': { type: 'request-info', reason: SANDBOX_REASONS.SANDBOX_TIN_MORE_INFO },
};

function sandboxDecision({ tin = '' }: ApplicationDetails): KycCommand | null {
  const decision = SANDBOX_DECISIONS[tin.slice(-2)];
  return decision === undefined ? { type: 'approve' } : decision;
}

/** The application, locked. One of the sandbox that is due is decided first: nothing else decides it. */
export async function lockDecided(tx: UnitOfWork, scope: MerchantScope, at: Date): Promise<ApplicationRow> {
  const row = await lockApplication(tx.trx, scope);
  const { autoDecideAt, submissions: submission } = row;
  const command = sandboxDecision(row.details);
  if (autoDecideAt === null || autoDecideAt > at || command === null) return row;
  const decision = { ...scopeOf(row), operatorId: SANDBOX_OPERATOR, at: autoDecideAt };
  return decideKyc(tx, decision, { ...command, submission });
}

type Deps = { db: Database; runInTransaction: RunInTransaction };

/** A merchant's KYC; decides a due sandbox application first. */
export async function readKyc({ db, runInTransaction }: Deps, scope: MerchantScope, at: Date): Promise<Kyc> {
  const found = await readApplication(db, scope);
  if (found.autoDecideAt === null || found.autoDecideAt > at) return kycOf(db, found);
  return kycOf(db, await runInTransaction((tx) => lockDecided(tx, scope, at)));
}
