import type { AuditRow } from '../access/audit.ts';
import { actionLinks, type ActionLinks } from '../access/operator-route.ts';
import { BANKS, type BankCode } from '../lib/banks.ts';
import { isoOrNull } from '../lib/dates.ts';
import type { Queryable } from '../lib/db.ts';
import { toBirr } from '../lib/money.ts';
import { readTimeline } from '../lib/timeline.ts';
import { readRequestedBy } from '../merchants/requested-by.ts';
import { isContradicted, listCases, type PayoutCase } from './conflicts.ts';
import { presentForOperators } from './present.ts';
import {
  destinationOf,
  listApprovals,
  readPaidBefore,
  readWithdrawal,
  type Approval,
  type WithdrawalRow,
} from './queries.ts';

/** A withdrawal with everything that its review needs, the unmasked destination too. Throws NOT_FOUND. */
export async function readOperatorDetail(db: Queryable, withdrawalId: string) {
  const row = await readWithdrawal(db, withdrawalId);
  const [requested, approvals, cases, before, timeline] = await Promise.all([
    readRequestedBy(db, row),
    listApprovals(db, row.id),
    listCases(db, row.id),
    readPaidBefore(db, row),
    readTimeline(db, row.id),
  ]);
  const { kind: _, ...destination } = destinationOf(row);
  const bank = row.bankCode === null ? {} : { bankName: BANKS[row.bankCode as BankCode] ?? row.bankCode };
  return {
    ...presentForOperators(row),
    ...requested,
    destination: { ...destination, ...bank },
    approvals: approvals.map((approval) => presentApproval(approval, requested.decisions)),
    approvalsMissing: row.stage === 'UNDER_REVIEW' ? Math.max(row.approvalsNeeded - approvals.length, 0) : 0,
    paidBefore: {
      count: before.count,
      amount: toBirr(before.santim),
      lastAt: isoOrNull(before.lastAt),
      accountNames: before.accountNames,
    },
    providerCode: row.providerCode,
    lastOutcome: row.lastOutcome,
    submittedAt: isoOrNull(row.submittedAt),
    timeline,
    links: linksOf(row, cases),
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

function linksOf(row: WithdrawalRow, cases: readonly PayoutCase[]): ActionLinks {
  const path = `withdrawals/${row.id}`;
  if (row.stage === 'UNDER_REVIEW') return actionLinks(path, 'approve', 'reject');
  if (row.stage === 'CREATED') return actionLinks(path, 'reject');
  return row.stage === 'UNKNOWN' || isContradicted(row, cases) ? actionLinks(path, 'resolve') : {};
}
