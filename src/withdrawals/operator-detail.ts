import type { AuditRow } from '../access/audit.ts';
import { actionLinks } from '../access/operator-route.ts';
import { BANKS, type BankCode } from '../lib/banks.ts';
import { isoOrNull } from '../lib/dates.ts';
import type { Queryable } from '../lib/db.ts';
import { toBirr } from '../lib/money.ts';
import { readTimeline } from '../lib/timeline.ts';
import { readRequestedBy } from '../merchants/requested-by.ts';
import { listCases } from './conflicts.ts';
import { presentForOperators } from './present.ts';
import { destinationOf, listApprovals, readPaidBefore, readWithdrawal, type Approval } from './queries.ts';
import { isResolvable, type Subject } from './resolve.ts';

/** A withdrawal with everything that its review needs, the unmasked destination too. Throws NOT_FOUND. */
export async function readOperatorDetail(db: Queryable, withdrawalId: string, at: Date) {
  const row = await readWithdrawal(db, withdrawalId);
  const [requested, approvals, cases, before, timeline] = await Promise.all([
    readRequestedBy(db, row),
    listApprovals(db, row.id),
    listCases(db, row.id),
    readPaidBefore(db, row),
    readTimeline(db, row.id),
  ]);
  const { kind: _, ...destination } = destinationOf(row);
  const { count, santim, lastAt, accountNames } = before;
  const bank = row.bankCode === null ? {} : { bankName: BANKS[row.bankCode as BankCode] ?? row.bankCode };
  return {
    ...presentForOperators(row),
    ...requested,
    destination: { ...destination, ...bank },
    approvals: approvals.map((approval) => presentApproval(approval, requested.decisions)),
    approvalsMissing: row.stage === 'UNDER_REVIEW' ? Math.max(row.approvalsNeeded - approvals.length, 0) : 0,
    paidBefore: { count, accountNames, amount: toBirr(santim), lastAt: isoOrNull(lastAt) },
    providerCode: row.providerCode,
    lastOutcome: row.lastOutcome,
    submittedAt: isoOrNull(row.submittedAt),
    timeline,
    links: actionLinks(`withdrawals/${row.id}`, ...commandsOf({ row, cases, at })),
  };
}

/** The audit log has the operator's name and reason. */
function presentApproval(
  { operatorId, approvedAt }: Approval,
  decisions: readonly Pick<AuditRow, 'action' | 'operatorId' | 'operatorName' | 'reason'>[],
) {
  const decision = decisions.find((one) => one.action === 'withdrawal.approve' && one.operatorId === operatorId);
  const { operatorName = null, reason = null } = decision ?? {};
  return { operatorId, operatorName, at: approvedAt.toISOString(), reason };
}

/** What operators may do with a withdrawal as it is. */
function commandsOf(subject: Subject): string[] {
  const { stage } = subject.row;
  if (stage === 'UNDER_REVIEW') return ['approve', 'reject'];
  if (stage === 'CREATED') return ['reject'];
  return isResolvable(subject) ? ['resolve'] : [];
}
