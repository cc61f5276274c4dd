import type { z } from 'zod';

import type { LoggedRequest } from '../../src/access/request-log.ts';
import type { Movement } from '../../src/ledger/balance.ts';
import type { BalanceResponse, MovementSums } from '../../src/ledger/routes.ts';
import type * as channels from '../../src/merchants/channels/schema.ts';
import type * as kyc from '../../src/merchants/kyc/schema.ts';
import type * as sessions from '../../src/payments/session-schema.ts';
import type { Transaction, TransactionDetail } from '../../src/payments/transaction-schema.ts';
import type * as portal from '../../src/portal/schema.ts';
import type * as schedules from '../../src/reports/schedule-routes.ts';
import type * as reports from '../../src/reports/schema.ts';
import type { ReportStatus } from '../../src/reports/states.ts';
import type * as bank from '../../src/settlements/bank-account/schema.ts';
import type * as settlements from '../../src/settlements/schema.ts';
import type * as webhooks from '../../src/webhooks/events/schema.ts';
import type * as subscriptions from '../../src/webhooks/subscriptions/schema.ts';
import type * as withdrawals from '../../src/withdrawals/schema.ts';
import { environment } from '../ui/environment.ts';
import type { RefundRow } from '../ui/refund-state.tsx';
import { createCalls } from '../ui/use-calls.ts';

export type Session = z.output<typeof sessions.Session>;
export type CreatedSession = z.output<typeof sessions.CreatedSession>;
export type TransactionRow = z.output<typeof Transaction>;
export type TransactionWithTimeline = z.output<typeof TransactionDetail>;

/** The signed-in person, their merchant and role. */
export type Me = z.output<typeof portal.Me>;
export type TransactionSums = z.output<typeof reports.TransactionSummary>;
export type EventRow = z.output<typeof webhooks.Event>;
export type Delivery = z.output<typeof webhooks.Delivery>;
export type Attempt = z.output<typeof webhooks.Attempt>;
export type WebhookStats = z.output<typeof webhooks.Stats>;
export type Subscription = z.output<typeof subscriptions.Subscription>;
export type ReceivedRequest = z.output<typeof subscriptions.ReceivedRequest>;
type SubscriptionWithSecret = z.output<typeof subscriptions.SubscriptionWithSecret>;
export type Channel = z.output<typeof channels.Channel>;
export type BankAccount = z.output<typeof bank.BankAccount>;
export type Key = z.output<typeof portal.PersonsKey>;
type CreatedKey = z.output<typeof portal.CreatedKey>;
export type LoggedCall = z.output<typeof LoggedRequest>;
export type AuditedChange = z.output<typeof portal.MerchantAuditEntry>;
export type TeamMember = z.output<typeof portal.Team>['members'][number];
export type SavedView = z.output<typeof portal.SavedView>;
export type MemberInvitation = z.output<typeof portal.MemberInvitation>;
export type Kyc = z.output<typeof kyc.Kyc>;

export type BalanceSums = z.output<typeof MovementSums>;
export type MovementRow = z.output<typeof Movement>;
export type WithdrawalRow = z.output<typeof withdrawals.Withdrawal>;
export type WithdrawalPolicy = z.output<typeof portal.WithdrawalPolicy>;
export type WithdrawalQuote = z.output<typeof withdrawals.WithdrawalQuote>;
export type WithdrawalQuotes = z.output<typeof withdrawals.WithdrawalQuotes>;
export type SettlementRow = z.output<typeof settlements.Settlement>;
export type SettlementQuote = z.output<typeof settlements.SettlementQuote>;
export type PaymentSeries = z.output<typeof reports.Series>;
export type ReportSummary = z.output<typeof reports.Summary>;
export type ReportSchedule = z.output<typeof schedules.ReportSchedule>;
type ReadyReport = z.output<z.ZodObject<typeof reports.readyReport>>;
/** Fields of the file are null until it is READY. */
export type ReportRow = Omit<ReadyReport, 'status' | 'completedAt' | 'expiresAt' | 'sha256'> & {
  status: ReportStatus;
  expiresAt: string | null;
  sha256: string | null;
  failure?: { code: string; message: string };
};
export type ListedReport = ReportRow & { requestedByName: string | null };

/** The routes that the portal calls, and the data of their success. */
type Routes = {
  'GET /api/portal/me': Me;
  'POST /api/portal/switch': Me;
  'GET /api/checkout/txns/get_all_txns': TransactionRow[];
  'GET /api/checkout/txns/summary': TransactionSums;
  'GET /api/checkout/txns/:transactionId': TransactionWithTimeline;
  'POST /api/checkout/sandbox/txns/:transactionId/decision': TransactionRow;
  'POST /api/checkout/txns/:transactionId/refunds': RefundRow;
  'GET /api/checkout/refunds': RefundRow[];
  'GET /api/checkout/refunds/:refundId': RefundRow;
  'POST /api/portal/refunds/:refundId/confirm': RefundRow;
  'POST /api/portal/refunds/:refundId/decline': RefundRow;
  'GET /api/checkout/reports/:reportId': ReportRow;
  'GET /api/checkout/webhooks/events': EventRow[];
  'GET /api/checkout/webhooks/events/:eventId': EventRow;
  'GET /api/checkout/webhooks/events/:eventId/logs': Attempt[];
  'POST /api/checkout/webhooks/events/:eventId/resend': z.output<typeof webhooks.Resent>;
  'POST /api/checkout/webhooks/events/resend': z.output<typeof webhooks.CreatedResendJob>;
  'GET /api/checkout/webhooks/resend-jobs/:jobId': z.output<typeof webhooks.ResendJob>;
  'POST /api/checkout/webhooks/resend-jobs/:jobId/cancel': z.output<typeof webhooks.ResendJob>;
  'GET /api/checkout/webhooks/stats': WebhookStats;
  'GET /api/checkout/webhooks/event-types': z.output<typeof webhooks.EventTypeEntry>[];
  'GET /api/checkout/webhooks/subscriptions': Subscription[];
  'POST /api/checkout/webhooks/subscriptions': SubscriptionWithSecret;
  'PATCH /api/checkout/webhooks/subscriptions/:subscriptionId': Subscription;
  'DELETE /api/checkout/webhooks/subscriptions/:subscriptionId': null;
  'POST /api/checkout/webhooks/subscriptions/:subscriptionId/rotate': SubscriptionWithSecret;
  'POST /api/checkout/webhooks/subscriptions/:subscriptionId/test': z.output<typeof subscriptions.SubscriptionTestSent>;
  'GET /api/checkout/webhooks/subscriptions/:subscriptionId/requests': ReceivedRequest[];
  'GET /api/checkout/requests': LoggedCall[];
  'GET /api/checkout/channels': Channel[];
  'PATCH /api/checkout/channels/:channel': Channel;
  'GET /api/checkout/kyc': Kyc;
  'PUT /api/checkout/kyc': Kyc;
  'POST /api/checkout/kyc/submit': Kyc;
  'POST /api/checkout/kyc/documents': z.output<typeof kyc.KycDocument>;
  'GET /api/checkout/bank-account': BankAccount;
  'PUT /api/checkout/bank-account': BankAccount;
  'GET /api/portal/keys': Key[];
  'POST /api/portal/keys': CreatedKey;
  'POST /api/portal/keys/:keyId/rotate': CreatedKey;
  'POST /api/portal/keys/:keyId/revoke': Key;
  'GET /api/portal/audit': AuditedChange[];
  'GET /api/portal/team': z.output<typeof portal.Team>;
  'POST /api/portal/team/invitations': MemberInvitation;
  'POST /api/portal/team/invitations/:invitationId/revoke': null;
  'PATCH /api/portal/team/:userId': TeamMember;
  'DELETE /api/portal/team/:userId': null;
  'GET /api/portal/views': SavedView[];
  'POST /api/portal/views': SavedView;
  'PATCH /api/portal/views/:viewId': SavedView;
  'DELETE /api/portal/views/:viewId': null;
  'GET /api/checkout/balance': z.output<typeof BalanceResponse>;
  'GET /api/checkout/balance/history': MovementRow[];
  'GET /api/checkout/balance/history/summary': BalanceSums;
  'GET /api/checkout/limits': z.output<typeof withdrawals.ChannelLimits>[];
  'GET /api/checkout/withdrawal': WithdrawalRow[];
  'GET /api/checkout/withdrawal/quote': WithdrawalQuote;
  'POST /api/checkout/withdrawal/quotes': WithdrawalQuotes;
  'GET /api/checkout/withdrawal/:withdrawalId': z.output<typeof withdrawals.WithdrawalDetail>;
  'POST /api/checkout/withdrawal': WithdrawalRow;
  'POST /api/checkout/withdrawal/:withdrawalId/cancel': WithdrawalRow;
  'POST /api/portal/withdrawals/:withdrawalId/confirm': WithdrawalRow;
  'POST /api/portal/withdrawals/:withdrawalId/decline': WithdrawalRow;
  'GET /api/portal/withdrawal-policy': WithdrawalPolicy;
  'PUT /api/portal/withdrawal-policy': WithdrawalPolicy;
  'GET /api/checkout/settlement': SettlementRow[];
  'GET /api/checkout/settlement/quote': SettlementQuote;
  'GET /api/checkout/settlement/:settlementId': z.output<typeof settlements.SettlementDetail>;
  'GET /api/checkout/settlement/:settlementId/statement': z.output<typeof settlements.SettlementStatement>;
  'POST /api/checkout/settlement': SettlementRow;
  'POST /api/checkout/settlement/:settlementId/cancel': SettlementRow;
  'GET /api/checkout/reports': ListedReport[];
  'POST /api/checkout/reports': ReportRow;
  'POST /api/checkout/reports/:reportId/cancel': ReportRow;
  'GET /api/portal/report-schedules': ReportSchedule[];
  'GET /api/portal/report-recipients': z.output<typeof schedules.Recipients>;
  'POST /api/portal/report-schedules': ReportSchedule;
  'PATCH /api/portal/report-schedules/:scheduleId': ReportSchedule;
  'DELETE /api/portal/report-schedules/:scheduleId': null;
  'GET /api/checkout/reports/summary': ReportSummary;
  'GET /api/checkout/reports/series': PaymentSeries;
  'POST /api/checkout/sessions': CreatedSession;
  'GET /api/checkout/sessions/:sessionId': Session;
};

/** Of every call: its environment, and the merchant that the page shows. */
export const headers: Record<string, string> = { 'x-meskot-environment': environment };

/** Calls name this merchant from now on, so that they fail once another tab has switched to another one. */
export function nameMerchant(merchantId: string): void {
  headers['x-meskot-merchant'] = merchantId;
}

export const { call, useRead, useChange } = createCalls<Routes>(headers);
