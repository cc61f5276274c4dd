import { requirePermission } from '../access/permissions.ts';
import { readRoute, type Route } from '../http/route.ts';
import type { Knex } from '../lib/db.ts';
import * as decisionSchema from './decision-schema.ts';
import * as detailSchema from './money-detail-schema.ts';
import { bankAccountDetail, settlementDetail, transactionDetail, withdrawalDetail } from './money-detail.ts';
import * as schema from './schema.ts';

/** What waits for a decision, as whole as the decision needs it: for those who may decide. */
export function moneyDetailRoutes({ db }: { db: Knex }): Route[] {
  const shared = { method: 'GET', tag: 'Operators' } as const;
  return [
    readRoute({
      ...shared,
      path: '/api/ops/withdrawals/:withdrawalId',
      operationId: 'opsGetWithdrawal',
      summary: 'A withdrawal as it is to be reviewed: with the whole destination and what went there before',
      auth: requirePermission('withdrawal.approve'),
      params: decisionSchema.WithdrawalParams,
      responses: { 200: detailSchema.WithdrawalDetail },
      handle: async ({ params }) => ({
        message: 'Withdrawal retrieved',
        data: await withdrawalDetail(db, params.withdrawalId),
      }),
    }),
    readRoute({
      ...shared,
      path: '/api/ops/settlements/:settlementId',
      operationId: 'opsGetSettlement',
      summary: 'A settlement as it is to be sent: with the whole account number',
      auth: requirePermission('settlement.sent'),
      params: decisionSchema.SettlementParams,
      responses: { 200: detailSchema.SettlementDetail },
      handle: async ({ params }) => ({
        message: 'Settlement retrieved',
        data: await settlementDetail(db, params.settlementId),
      }),
    }),
    readRoute({
      ...shared,
      path: '/api/ops/transactions/:transactionId',
      operationId: 'opsGetTransaction',
      summary: 'A transaction with every payment that came for it, and what can be decided about each',
      auth: requirePermission('payment.accept'),
      params: decisionSchema.TransactionParams,
      responses: { 200: detailSchema.TransactionDetail },
      handle: async ({ params }) => ({
        message: 'Transaction retrieved',
        data: await transactionDetail(db, params.transactionId),
      }),
    }),
    readRoute({
      ...shared,
      path: '/api/ops/merchants/:merchantId/bank-account',
      operationId: 'opsGetBankAccount',
      summary: "The merchant's linked bank account, with its whole number",
      auth: requirePermission('bank-account.verify'),
      params: schema.MerchantParams,
      query: decisionSchema.InEnvironment,
      responses: { 200: detailSchema.BankAccountDetail },
      handle: async ({ params, query }) => ({
        message: 'Bank account retrieved',
        data: await bankAccountDetail(db, { ...params, ...query }),
      }),
    }),
  ];
}
