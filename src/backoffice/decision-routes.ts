import { auditContextOf } from '../access/audit.ts';
import { requirePermission } from '../access/permissions.ts';
import { writeRoute, type Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { toSantim } from '../lib/money.ts';
import * as decisionSchema from './decision-schema.ts';
import {
  acceptPayment,
  approveWithdrawalAs,
  rejectWithdrawalAs,
  returnPayment,
  resolveWithdrawalAs,
} from './decisions.ts';
import { presentHeldDecision, presentWithdrawal } from './present.ts';
import * as schema from './schema.ts';

/** What waits for a person's yes or no: withdrawals under review, money that was not asked for. */
export function decisionRoutes(deps: { clock: Clock }): Route[] {
  return [...withdrawalRoutes(deps), ...paymentRoutes(deps)];
}

function withdrawalRoutes(deps: { clock: Clock }): Route[] {
  return [
    writeRoute({
      method: 'POST',
      path: '/api/ops/withdrawals/:withdrawalId/approve',
      operationId: 'opsApproveWithdrawal',
      tag: 'Operators',
      summary: 'Say yes to a withdrawal under review',
      description: 'Where two must, the second yes is of another operator; who asked for it may not say so.',
      auth: requirePermission('withdrawal.approve'),
      params: decisionSchema.WithdrawalParams,
      body: schema.OptionalReason,
      responses: { 200: decisionSchema.Withdrawal },
      errors: ['INVALID_STATE'],
      handle: async (input) => {
        const row = await approveWithdrawalAs(auditContextOf(input, deps), { ...input.params, ...input.body });
        const message = row.stage === 'UNDER_REVIEW' ? 'Approved; another operator must approve it too' : 'Approved';
        return { message, data: presentWithdrawal(row) };
      },
    }),
    writeRoute({
      method: 'POST',
      path: '/api/ops/withdrawals/:withdrawalId/reject',
      operationId: 'opsRejectWithdrawal',
      tag: 'Operators',
      summary: "Say no to a withdrawal under review: its money is the merchant's again, who is told the reason",
      auth: requirePermission('withdrawal.reject'),
      params: decisionSchema.WithdrawalParams,
      body: schema.Reason,
      responses: { 200: decisionSchema.Withdrawal },
      errors: ['INVALID_STATE'],
      handle: async (input) => {
        const row = await rejectWithdrawalAs(auditContextOf(input, deps), { ...input.params, ...input.body });
        return { message: 'Rejected', data: presentWithdrawal(row) };
      },
    }),
    writeRoute({
      method: 'POST',
      path: '/api/ops/withdrawals/:withdrawalId/resolve',
      operationId: 'opsResolveWithdrawal',
      tag: 'Operators',
      summary: 'Say what became of a withdrawal that its provider leaves open, or calls paid after it had failed',
      description:
        'Look at the provider first. COMPLETED: it was paid; what had failed is taken from the balance again. FAILED: it was not, and its money is the merchant’s. What needed two operators to be sent needs two who say the same. Whoever asked for it may not say so.',
      auth: requirePermission('withdrawal.resolve'),
      params: decisionSchema.WithdrawalParams,
      body: decisionSchema.WithdrawalResolution,
      responses: { 200: decisionSchema.Withdrawal },
      errors: ['INVALID_STATE', 'INSUFFICIENT_BALANCE'],
      handle: async (input) => {
        const { paidAmount, ...body } = input.body;
        const paidSantim = paidAmount === undefined ? undefined : toSantim(paidAmount);
        const { row, missing } = await resolveWithdrawalAs(auditContextOf(input, deps), {
          ...input.params,
          ...body,
          paidSantim,
        });
        const message = missing > 0 ? 'Noted; another operator must say the same' : 'Resolved';
        return { message, data: presentWithdrawal(row) };
      },
    }),
  ];
}

function paymentRoutes(deps: { clock: Clock }): Route[] {
  return [
    writeRoute({
      method: 'POST',
      path: '/api/ops/transactions/:transactionId/accept',
      operationId: 'opsAcceptPayment',
      tag: 'Operators',
      summary: 'Give held money to the merchant, less the fee',
      description:
        'Money of another amount makes the transaction SUCCESS with what came. A second payment leaves the transaction as it is. Money of another currency, or under a reference that has paid another transaction, can only be given back.',
      auth: requirePermission('payment.accept'),
      params: decisionSchema.TransactionParams,
      body: decisionSchema.PaymentAcceptance,
      responses: { 200: decisionSchema.HeldDecision },
      errors: ['INVALID_STATE'],
      handle: async (input) => {
        const decision = await acceptPayment(auditContextOf(input, deps), { ...input.params, ...input.body });
        return { message: 'The money is given to the merchant', data: presentHeldDecision(decision) };
      },
    }),
    writeRoute({
      method: 'POST',
      path: '/api/ops/transactions/:transactionId/reject',
      operationId: 'opsRejectPayment',
      tag: 'Operators',
      summary: 'Note that held money went back to the customer, under the reference of its return',
      description: 'A transaction that waited for nothing else ends FAILED. The merchant sees reason and reference.',
      auth: requirePermission('payment.return'),
      params: decisionSchema.TransactionParams,
      body: decisionSchema.PaymentReturn,
      responses: { 200: decisionSchema.HeldDecision },
      errors: ['INVALID_STATE'],
      handle: async (input) => {
        const decision = await returnPayment(auditContextOf(input, deps), { ...input.params, ...input.body });
        return { message: 'The money went back to the customer', data: presentHeldDecision(decision) };
      },
    }),
  ];
}
