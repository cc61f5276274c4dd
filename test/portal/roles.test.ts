import { permissionsOf } from '../../src/access/users/roles.ts';
import { MEMBER_ROLES } from '../../src/http/people.ts';
import { productRoutes } from '../docs/document.ts';

/**
 * The roles that may call each route of a merchant, by operationId: a new route fails the test until its roles are listed
 * here, so that they are a decision. `all`: every role.
 */
const MAY: Readonly<Record<string, string>> = {
  advanceSandboxSettlement: 'owner finance',
  cancelReport: 'owner admin finance developer support',
  cancelSettlement: 'owner finance',
  cancelWebhookResendJob: 'owner admin developer support',
  cancelWithdrawal: 'owner finance',
  changeMember: 'owner admin',
  changeReportSchedule: 'owner admin finance developer support',
  changeView: 'all',
  changeWebhookSubscription: 'owner admin developer',
  claimCancel: 'owner admin',
  claimError: 'owner admin',
  claimSuccess: 'owner admin',
  confirmRefund: 'owner admin',
  confirmWithdrawal: 'owner finance',
  createKey: 'owner admin developer',
  createRefund: 'owner admin',
  createReport: 'owner admin finance developer support',
  createReportSchedule: 'owner admin finance developer support',
  createSession: 'owner admin',
  createSettlement: 'owner finance',
  createView: 'all',
  createWebhookSubscription: 'owner admin developer',
  createWithdrawal: 'owner finance',
  decideSandboxPayment: 'owner admin',
  declineRefund: 'owner admin',
  declineWithdrawal: 'owner finance',
  deleteReportSchedule: 'owner admin finance developer support',
  deleteView: 'all',
  deleteWebhookSubscription: 'owner admin developer',
  exportTransactions: 'all',
  expireSession: 'owner admin',
  exportMerchantAudit: 'all',
  getBalance: 'owner admin finance viewer',
  getBankAccount: 'owner admin finance viewer',
  getCalendar: 'all',
  getKyc: 'owner admin finance developer viewer',
  getPaymentSeries: 'all',
  getRefund: 'all',
  getReport: 'all',
  getReportFile: 'all',
  getReportSummary: 'all',
  getSession: 'all',
  getSessionStatus: 'all',
  getSettlement: 'owner admin finance viewer',
  getSettlementLimits: 'owner admin finance viewer',
  getSettlementStatement: 'owner admin finance viewer',
  getTransaction: 'all',
  getWebhookEvent: 'all',
  getWebhookResendJob: 'all',
  getWebhookStats: 'all',
  getWebhookSubscription: 'all',
  getWithdrawal: 'owner admin finance viewer',
  getWithdrawalPolicy: 'owner admin finance viewer',
  inviteMember: 'owner admin',
  linkBankAccount: 'owner finance',
  listBalanceMovements: 'owner admin finance viewer',
  summariseBalanceMovements: 'owner admin finance viewer',
  listChannels: 'owner admin finance developer viewer',
  listKeys: 'owner admin developer',
  listLimits: 'owner admin finance viewer',
  listMerchantAudit: 'all',
  listOwnRequests: 'all',
  listRefunds: 'all',
  listReportRecipients: 'owner admin finance developer support',
  listReports: 'all',
  listReportSchedules: 'all',
  listRequests: 'owner admin developer',
  listSessions: 'all',
  listSettlements: 'owner admin finance viewer',
  listTeam: 'owner admin',
  listTransactionRefunds: 'all',
  listTransactions: 'all',
  listViews: 'all',
  listWebhookEventLogs: 'all',
  listWebhookEventTypes: 'all',
  listWebhookEvents: 'all',
  listReceivedRequests: 'all',
  listWebhookSubscriptions: 'all',
  listWithdrawals: 'owner admin finance viewer',
  paySession: 'owner admin',
  quoteSettlement: 'owner admin finance viewer',
  quoteWithdrawal: 'owner admin finance viewer',
  quoteWithdrawals: 'owner admin finance viewer',
  removeMember: 'owner admin',
  resendWebhookEvent: 'owner admin developer support',
  resendWebhookEvents: 'owner admin developer support',
  revokeKey: 'owner admin developer',
  revokeMemberInvitation: 'owner admin',
  rotateKey: 'owner admin developer',
  rotateWebhookSecret: 'owner admin developer',
  saveKyc: 'owner admin',
  sendWebhookTestEvent: 'owner admin developer',
  setWithdrawalPolicy: 'owner',
  streamChanges: 'all',
  submitKyc: 'owner admin',
  summariseTransactions: 'all',
  switchChannel: 'owner admin',
  uploadKycDocument: 'owner admin',
  verifyWithdrawal: 'owner admin finance viewer',
};

/** The roles that the declaration of a route lets through; null where the route asks for none. */
function rolesOf({ auth }: ReturnType<typeof productRoutes>[number]): string | null {
  if (!('scope' in auth) && auth.by !== 'member') return null;
  const needed = ('permission' in auth ? auth.permission : undefined) ?? ('scope' in auth ? auth.scope : undefined);
  const roles = MEMBER_ROLES.filter((role) => permissionsOf(role).some((one) => one === needed));
  return roles.length === MEMBER_ROLES.length ? 'all' : roles.join(' ');
}

test('each route of merchants is open to the listed roles of people and to no other', () => {
  const declared = productRoutes().flatMap((route) => {
    const roles = rolesOf(route);
    return roles === null ? [] : [[route.operationId, roles] as const];
  });
  expect(Object.fromEntries(declared)).toEqual(MAY);
});
