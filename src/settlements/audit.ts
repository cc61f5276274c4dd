import type { AuditedChange } from '../access/audit.ts';
import { toBirr } from '../lib/money.ts';
import { scopeOf } from '../lib/scope.ts';
import type { TransitionResult } from './transition.ts';

/** A transition in the audit log; null if nothing has changed. */
export function settlementAudit(result: TransitionResult): AuditedChange | null {
  if (!result.changed) return null;
  const { settlement, before } = result;
  const { status, bankReference, returnReference, lateCredit, amountSantim } = settlement;
  return {
    resourceType: 'settlement',
    resourceId: settlement.id,
    ...scopeOf(settlement),
    before,
    after: {
      status,
      bankReference,
      amount: toBirr(amountSantim),
      ...(returnReference !== null && { returnReference }),
      ...(lateCredit && { lateCredit }),
    },
  };
}
