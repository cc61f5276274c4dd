import { recordAudit, type AuditContext } from '../access/audit.ts';
import type { Action } from '../access/permissions.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import { approveKyc, rejectKyc, requestMoreInfo, startReview } from '../merchants/kyc/decide.ts';
import { lockApplication, type ApplicationRow } from '../merchants/kyc/queries.ts';
import { readMerchant } from './merchants.ts';

/** What an operator says of an application to be verified. */
export type KycDecision =
  | { type: 'review'; reason?: string | undefined }
  | { type: 'approve'; submission: number; tier?: number | undefined; reason?: string | undefined }
  | { type: 'reject'; submission: number; reason: string }
  | { type: 'request-info'; submission: number; reason: string };

/**
 * Throws NOT_FOUND, VALIDATION_ERROR, and INVALID_STATE: decided already, by somebody else too, submitted again, or to be
 * approved by who may have handed it in.
 */
export async function decideKyc(
  context: AuditContext,
  scope: MerchantScope,
  decision: KycDecision,
): Promise<ApplicationRow> {
  await readMerchant(context.tx.trx, scope.merchantId);
  const before = await lockApplication(context.tx.trx, scope);
  const row = await transition(context, scope, decision);
  await recordAudit(context, {
    action: `kyc.${decision.type}` satisfies Action,
    resourceType: 'kyc',
    resourceId: scope.merchantId,
    ...scopeOf(scope),
    before: noted(before),
    after: noted(row),
    reason: decision.reason,
  });
  return row;
}

function noted({ status, tier, submissions: submission }: ApplicationRow) {
  return { status, tier, submission };
}

function transition(context: AuditContext, scope: MerchantScope, decision: KycDecision): Promise<ApplicationRow> {
  const { operatorId, keyId, at } = context;
  const reviewed = { ...scopeOf(scope), operatorId, keyId, at };
  switch (decision.type) {
    case 'review':
      return startReview(context.tx, reviewed);
    case 'approve':
      return approveKyc(context.tx, { ...reviewed, submission: decision.submission, tier: decision.tier });
    case 'reject':
      return rejectKyc(context.tx, { ...reviewed, submission: decision.submission, reason: decision.reason });
    case 'request-info':
      return requestMoreInfo(context.tx, { ...reviewed, submission: decision.submission, what: decision.reason });
    default:
      return decision satisfies never;
  }
}
