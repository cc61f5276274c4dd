import type { z } from 'zod';

import type * as access from '../../src/access/operator-schema.ts';
import type { Overview as OverviewSchema } from '../../src/backoffice/overview.ts';
import type { Hit as HitSchema } from '../../src/backoffice/search.ts';
import type { WorkItemList } from '../../src/backoffice/work-queue.ts';
import type { FeeSchedule } from '../../src/ledger/operator-routes.ts';
import type * as channels from '../../src/merchants/channels/schema.ts';
import type * as kyc from '../../src/merchants/kyc/schema.ts';
import type * as merchants from '../../src/merchants/schema.ts';
import type * as payments from '../../src/payments/transaction-schema.ts';
import type * as receipts from '../../src/reconciliation/receipts/schema.ts';
import type * as reconciliation from '../../src/reconciliation/schema.ts';
import type * as bank from '../../src/settlements/bank-account/schema.ts';
import type { HolidayResponse } from '../../src/settlements/calendar/routes.ts';
import type * as settlements from '../../src/settlements/schema.ts';
import type * as deliveries from '../../src/webhooks/delivery/schema.ts';
import type * as withdrawals from '../../src/withdrawals/schema.ts';
import { onSignedOut } from '../ui/signed-out.ts';
import { askForCode as onStepUp } from '../ui/step-up.ts';
import { createCalls } from '../ui/use-calls.ts';

/** The signed-in operator, and what their role may do. */
export type Me = z.output<typeof access.OperatorMe>;
export type Hit = z.output<typeof HitSchema>;
export type Delivery = z.output<typeof deliveries.OperatorDelivery>;
export type Overview = z.output<typeof OverviewSchema>;
type WorkList = z.output<typeof WorkItemList>;
export type WorkItem = WorkList['items'][number];
export type AuditEntry = z.output<typeof access.AuditEntry>;
export type Proposal = z.output<typeof access.Proposal>;
export type Operator = z.output<typeof access.Operator>;
export type MerchantKey = z.output<typeof access.MerchantKey>;
export type Merchant = z.output<typeof merchants.Merchant>;
export type MerchantDetail = z.output<typeof merchants.MerchantDetail>;
type Fees = z.output<typeof FeeSchedule>;
export type FeeRule = Fees['current'][number];
type Limits = z.output<typeof channels.LimitSchedule>;
export type LimitRule = Limits['current'][number];
export type ReconciledDay = z.output<typeof reconciliation.ReconciledDay>;
export type Discrepancy = z.output<typeof reconciliation.Discrepancy>;
export type Receipt = z.output<typeof receipts.Receipt>;
export type Holiday = z.output<typeof HolidayResponse>;
export type BankFileReport = z.output<typeof settlements.BankFileReport>;
export type Transaction = z.output<typeof payments.OperatorTransaction>;
export type TransactionDetail = z.output<typeof payments.OperatorTransactionDetail>;
export type Withdrawal = z.output<typeof withdrawals.OperatorWithdrawal>;
export type WithdrawalDetail = z.output<typeof withdrawals.OperatorWithdrawalDetail>;
export type Settlement = z.output<typeof settlements.OperatorSettlement>;
export type SettlementDetail = z.output<typeof settlements.OperatorSettlementDetail>;
export type BankAccountDetail = z.output<typeof bank.OperatorBankAccountDetail>;
export type KycDetail = z.output<typeof kyc.OperatorKyc>;
export type DeliveryDetail = z.output<typeof deliveries.OperatorDeliveryDetail>;

/** The routes that the console calls, and the data of their success. */
type Routes = {
  'GET /api/ops/me': Me;
  'GET /api/ops/search': Hit[];
  'GET /api/ops/overview': Overview;
  'GET /api/ops/queue': WorkList;
  'GET /api/ops/stalled': WorkList;
  'GET /api/ops/proposals': Proposal[];
  'GET /api/ops/proposals/:proposalId': Proposal;
  'GET /api/ops/transactions': Transaction[];
  'GET /api/ops/transactions/:transactionId': TransactionDetail;
  'GET /api/ops/withdrawals': Withdrawal[];
  'GET /api/ops/withdrawals/:withdrawalId': WithdrawalDetail;
  'GET /api/ops/settlements': Settlement[];
  'GET /api/ops/settlements/:settlementId': SettlementDetail;
  'GET /api/ops/merchants': Merchant[];
  'GET /api/ops/merchants/:merchantId': MerchantDetail;
  'GET /api/ops/merchants/:merchantId/fees': Fees;
  'GET /api/ops/merchants/:merchantId/limits': Limits;
  'GET /api/ops/merchants/:merchantId/review-policy': z.output<typeof merchants.ReviewPolicy>;
  'GET /api/ops/merchants/:merchantId/settlement-limit': z.output<typeof settlements.OperatorSettlementLimit>;
  'GET /api/ops/merchants/:merchantId/keys': MerchantKey[];
  'GET /api/ops/reconciliation': ReconciledDay[];
  'GET /api/ops/reconciliation/discrepancies': Discrepancy[];
  'GET /api/ops/receipts': Receipt[];
  'GET /api/ops/receipts/:receiptId': Receipt;
  'GET /api/ops/holidays': Holiday[];
  'GET /api/ops/operators': Operator[];
  'GET /api/ops/audit': AuditEntry[];
  'POST /api/ops/settlements/bank-file': BankFileReport;
  'GET /api/ops/merchants/:merchantId/bank-account': BankAccountDetail;
  'GET /api/ops/merchants/:merchantId/kyc': KycDetail;
  'GET /api/ops/webhooks/deliveries': Delivery[];
  'GET /api/ops/webhooks/deliveries/:deliveryId': DeliveryDetail;
  'POST /api/ops/webhooks/deliveries/resend': z.output<typeof deliveries.OperatorResendCount> & { jobId?: string };
  'GET /api/ops/webhooks/resend-jobs/:jobId': z.output<typeof deliveries.OperatorResendJob>;
  'POST /api/ops/webhooks/resend-jobs/:jobId/cancel': unknown;
  /** Commands, by the address in the links of what they change. */
  [command: `${'POST' | 'PUT' | 'PATCH' | 'DELETE'} /api/ops/${string}`]: unknown;
};

export const { call, useRead, useChange } = createCalls<Routes>({ headers: {}, onSignedOut, onStepUp });

/** Who is signed in. */
export const readMe = async (): Promise<Me> => (await call('GET /api/ops/me', {})).data;
