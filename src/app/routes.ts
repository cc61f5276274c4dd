import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type Router from '@koa/router';

import { invitationRoute } from '../access/key-routes.ts';
import { accessOperatorRoutes } from '../access/operator-routes.ts';
import { proposalRoutes } from '../access/proposal-routes.ts';
import { requestLogRoutes } from '../access/request-log.ts';
import { merchantAdministrationRoutes } from '../backoffice/merchant-routes.ts';
import { overviewRoutes } from '../backoffice/overview.ts';
import { searchRoutes } from '../backoffice/search.ts';
import { workQueueRoutes } from '../backoffice/work-queue.ts';
import { workflowUrl, type Config } from '../config.ts';
import type { Limits } from '../http/limits.ts';
import { feeOperatorRoutes } from '../ledger/operator-routes.ts';
import { balanceRoutes } from '../ledger/routes.ts';
import type { Clock } from '../lib/clock.ts';
import type { Database } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';
import type { MerchantScope } from '../lib/scope.ts';
import { channelOperatorRoutes } from '../merchants/channels/operator-routes.ts';
import { channelRoutes } from '../merchants/channels/routes.ts';
import { kycOperatorRoutes } from '../merchants/kyc/operator-routes.ts';
import { kycRoutes } from '../merchants/kyc/routes.ts';
import { createDocumentStore } from '../merchants/kyc/store.ts';
import { merchantOperatorRoutes } from '../merchants/operator-routes.ts';
import type { RunInTransaction } from '../outbox/record.ts';
import { createCheckoutPages } from '../payments/checkout-page/routes.ts';
import { createCloseUnpaid } from '../payments/close-session.ts';
import { TRANSACTION_EVENTS } from '../payments/events.ts';
import type { CountResult } from '../payments/monitoring.ts';
import { paymentOperatorRoutes } from '../payments/operator-routes.ts';
import { findAttemptBySecret } from '../payments/queries.ts';
import { checkoutRoutes } from '../payments/session-routes.ts';
import type { TokenAuthenticator } from '../payments/session.ts';
import { isConclusive, MIN_QUERY_INTERVAL_MS } from '../payments/sync.ts';
import { transactionRoutes } from '../payments/transaction-routes.ts';
import { findPayoutBySecret } from '../payouts/queries.ts';
import { REFUND_EVENTS } from '../payouts/refunds/events.ts';
import { REFUNDS_OF_PAYMENTS } from '../payouts/refunds/of-payments.ts';
import { refundOperatorRoutes } from '../payouts/refunds/operator-routes.ts';
import { findTransactionIds } from '../payouts/refunds/queries.ts';
import { refundRoutes } from '../payouts/refunds/routes.ts';
import { WITHDRAWAL_EVENTS } from '../payouts/withdrawals/events.ts';
import { withdrawalOperatorRoutes } from '../payouts/withdrawals/operator-routes.ts';
import { withdrawalRoutes } from '../payouts/withdrawals/routes.ts';
import { merchantAuditRoutes } from '../portal/audit-routes.ts';
import { keyRoutes } from '../portal/key-routes.ts';
import { portalRoutes } from '../portal/routes.ts';
import { secondPersonRoutes } from '../portal/second-person-routes.ts';
import { securityRoutes } from '../portal/security-routes.ts';
import { createStreams, operatorStreamRoutes, streamRoutes } from '../portal/streams.ts';
import { ownerInvitationRoutes, teamRoutes } from '../portal/team-routes.ts';
import { viewRoutes } from '../portal/view-routes.ts';
import { callbackNetworks, createCallbackRouter, storeCallback, type CallbackDeps } from '../providers/callbacks.ts';
import { credentialOperatorRoutes } from '../providers/credentials/operator-routes.ts';
import type { FindProvider } from '../providers/provider.ts';
import { reconciliationOperatorRoutes } from '../reconciliation/operator-routes.ts';
import { receiptOperatorRoutes } from '../reconciliation/receipts/operator-routes.ts';
import { REPORT_EVENTS } from '../reports/events.ts';
import { createReportFiles } from '../reports/files.ts';
import { reportRoutes } from '../reports/routes.ts';
import { reportScheduleRoutes } from '../reports/schedule-routes.ts';
import { transactionReportRoutes } from '../reports/transaction-routes.ts';
import { bankAccountOperatorRoutes, bankAccountRoutes } from '../settlements/bank-account/routes.ts';
import { calendarOperatorRoutes, calendarRoutes } from '../settlements/calendar/routes.ts';
import { SETTLEMENT_EVENTS } from '../settlements/events.ts';
import { settlementOperatorRoutes } from '../settlements/operator-routes.ts';
import { settlementRoutes } from '../settlements/routes.ts';
import { operatorResendRoutes } from '../webhooks/delivery/operator-resend-routes.ts';
import { deliveryOperatorRoutes } from '../webhooks/delivery/operator-routes.ts';
import { createEgressGuard } from '../webhooks/egress/egress.ts';
import { EVENT_TYPE_NAMES, SUBSCRIPTION_EVENTS, type EventCatalogue } from '../webhooks/events/catalogue.ts';
import { eventRoutes } from '../webhooks/events/routes.ts';
import { subscriptionRoutes } from '../webhooks/subscriptions/routes.ts';
import { createChecks, type Checks } from './open-process.ts';

const EVENT_TYPES = {
  ...TRANSACTION_EVENTS,
  ...WITHDRAWAL_EVENTS,
  ...REFUND_EVENTS,
  ...SETTLEMENT_EVENTS,
  ...REPORT_EVENTS,
  ...SUBSCRIPTION_EVENTS,
};

/** Every event type, from the slice that records it, with its example from the folder of the docs. */
export function readEventCatalogue(docsFolder: string): EventCatalogue {
  const examples = JSON.parse(readFileSync(join(docsFolder, 'events.json'), 'utf8')) as Record<string, object>;
  const catalogue = EVENT_TYPE_NAMES.map((name) => [name, { ...EVENT_TYPES[name], example: examples[name] }]);
  return Object.fromEntries(catalogue) as EventCatalogue;
}

const MERCHANT_ROUTES = [
  checkoutRoutes,
  transactionRoutes,
  refundRoutes,
  channelRoutes,
  calendarRoutes,
  balanceRoutes,
  withdrawalRoutes,
  bankAccountRoutes,
  settlementRoutes,
  reportRoutes,
  transactionReportRoutes,
  kycRoutes,
  eventRoutes,
  subscriptionRoutes,
  requestLogRoutes,
];
const OPERATOR_ROUTES = [
  searchRoutes,
  overviewRoutes,
  workQueueRoutes,
  merchantOperatorRoutes,
  merchantAdministrationRoutes,
  ownerInvitationRoutes,
  channelOperatorRoutes,
  credentialOperatorRoutes,
  feeOperatorRoutes,
  kycOperatorRoutes,
  withdrawalOperatorRoutes,
  refundOperatorRoutes,
  settlementOperatorRoutes,
  bankAccountOperatorRoutes,
  calendarOperatorRoutes,
  paymentOperatorRoutes,
  deliveryOperatorRoutes,
  operatorResendRoutes,
  reconciliationOperatorRoutes,
  receiptOperatorRoutes,
  accessOperatorRoutes,
];

const PEOPLE_ROUTES = [
  portalRoutes,
  teamRoutes,
  keyRoutes,
  secondPersonRoutes,
  merchantAuditRoutes,
  streamRoutes,
  viewRoutes,
  reportScheduleRoutes,
];

type RouteParts = {
  db: Database;
  runInTransaction: RunInTransaction;
  findProvider: FindProvider;
  clock: Clock;
  log: Logger;
  limits: Limits;
  tokens: TokenAuthenticator;
  docsFolder: string;
  countCallback?: CallbackDeps['count'];
  countResult?: CountResult;
};

export type ApiRoutes = ReturnType<typeof routesOf>;

/** The route table, and the plain routers beside it: pages for customers, callbacks of providers. */
export function routesOf(config: Config, parts: RouteParts) {
  const { db } = parts;
  const streams = createStreams(parts);
  const { keyRing, API_KEY_PEPPER: pepper } = config;
  const { PORTAL_URL: portalUrl = '', CONSOLE_URL: consoleUrl = null } = config;
  const sync = { ...parts, baseUrl: config.PUBLIC_BASE_URL };
  const checks = createChecks(sync);
  const deps = {
    ...sync,
    ...checks,
    closeUnpaid: createCloseUnpaid({ ...sync, ...checks }),
    pepper,
    keyRing,
    liveProviders: config.liveProviders,
    consoleUrl,
    portalUrl,
    store: createDocumentStore(config.files.documents, keyRing),
    files: createReportFiles(config.files.reports),
    catalogue: readEventCatalogue(parts.docsFolder),
    checkUrl: createEgressGuard(config.egress).checkUrl,
    findTransactionIds: (orderNo: string, scope?: MerchantScope) => findTransactionIds(db, orderNo, scope),
    refundsOfPayments: REFUNDS_OF_PAYMENTS,
    workflowUrl: (workflowId: string) => workflowUrl(config, workflowId),
    resendsPerSecond: config.WEBHOOK_RESENDS_PER_SECOND,
    streams,
  };
  const ofMerchants = MERCHANT_ROUTES.flatMap((routesOfSlice) => routesOfSlice(deps));
  const ofOperators = OPERATOR_ROUTES.flatMap((routesOfSlice) => routesOfSlice(deps));
  const proposals = proposalRoutes({ ...deps, routes: ofOperators });
  return {
    /** Of merchants' servers, and of their customers' pages. */
    merchantRoutes: ofMerchants,
    /** Of operators: the public API does not serve them, unless a setting says so. */
    operatorRoutes: [...ofOperators, ...proposals, ...operatorStreamRoutes(deps)],
    /** One path, where each listener accepts the invitations of its own callers. */
    invitationRoutes: {
      ofMerchants: invitationRoute(pepper, ['merchant']),
      ofOperators: invitationRoute(pepper, ['operator']),
      ofAll: invitationRoute(pepper, ['merchant', 'operator']),
    },
    /** Those that only the portal serves. */
    portalRoutes: PEOPLE_ROUTES.flatMap((routesOfPeople) => routesOfPeople({ ...deps, showsMail: !config.production })),
    /** Of a person's own account: the portal and the console serve them. */
    accountRoutes: securityRoutes({ ...deps, sites: { portal: portalUrl, console: consoleUrl ?? '' } }),
    routers: [createCheckoutPages(deps), createCallbacks(config, parts, checks)],
  };
}

/** A callback is stored, and then its order is checked. */
function createCallbacks(
  config: Config,
  { db, findProvider, limits, log, countCallback: count }: RouteParts,
  { checkAttempt, checkPayout, checkRefund }: Checks,
): Router {
  return createCallbackRouter({
    findOrderBySecret: async (secret) => (await findAttemptBySecret(db, secret)) ?? findPayoutBySecret(db, secret),
    findProvider,
    storeCallback: (row) => storeCallback(db, row),
    onCallback: async (order, { verified }) => {
      // A verified callback is checked with the provider at once.
      const minIntervalMs = verified ? 0 : MIN_QUERY_INTERVAL_MS;
      const options = { minIntervalMs, notifyWorkflow: true, proof: verified };
      if ('attemptId' in order) return isConclusive(await checkAttempt(order.attemptId, options));
      const check = order.kind === 'refund' ? checkRefund : checkPayout;
      return (await check(order.payoutId, options)).isConclusive;
    },
    unknown: limits.unknownCallbacks,
    networksOf: callbackNetworks(config.liveProviders),
    count,
    log,
  });
}
