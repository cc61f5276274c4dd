import type { Merchant } from './belongings.ts';
import type { Operation } from './contract.ts';

const today = new Date(Date.now() + 3 * 3_600_000).toISOString().slice(0, 10);

const inHours = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();

/** Valid values by parameter name, for any operation. */
const QUERY: Record<string, string> = {
  startDate: today,
  endDate: today,
  status: 'ALL',
  currency: 'ETB',
  kind: 'OTHER',
  environment: 'sandbox',
  channel: 'TELEBIRR',
  amount: '100',
  q: 'ORD-1',
};

/** Bodies of changing operations by operationId, for those without an example in the docs; other operations take {}. */
const BODIES: Record<string, object> = {
  paySession: { channel: 'TELEBIRR', phone: '0911000001' },
  decideSandboxPayment: { decision: 'approve' },
  switchChannel: { enabled: false },
  linkBankAccount: { bankCode: 'AWASH', accountNumber: '01320123456', accountName: 'Walls' },
  createWebhookSubscription: { url: 'http://127.0.0.1:9/walls', eventTypes: ['*'] },
  changeWebhookSubscription: { url: 'http://127.0.0.1:9/taken-over', active: false },
  rotateWebhookSecret: { overlapSeconds: 0, force: true },
  resendWebhookEvent: { force: true },
  resendWebhookEvents: { status: 'FAILED', startDate: today, endDate: today },
  opsSuspendMerchant: { reason: 'Walls' },
  opsResumeMerchant: { reason: 'Walls' },
  opsInviteOwner: { email: 'walls@people.example', reason: 'Walls' },
  beginTwoFactor: { currentPassword: 'Walls' },
  changePassword: { currentPassword: 'Walls', newPassword: 'Walls' },
  confirmTwoFactor: { code: '000000' },
  stepUp: { code: '000000' },
  addPasskey: { name: 'phone', id: 'AAAA', clientDataJSON: 'e30', attestationObject: 'oA', transports: [] },
  stepUpWithPasskey: { id: 'AAAA', clientDataJSON: 'e30', authenticatorData: 'AAAA', signature: 'AAAA' },
  inviteMember: { email: 'walls@people.example', role: 'viewer' },
  changeMember: { role: 'viewer' },
  quoteWithdrawals: { withdrawals: [{ requestId: 'WALLS-Q' }] },
  createReportSchedule: { kind: 'payments', period: 'day', recipients: ['usr_walls'] },
  changeReportSchedule: { active: false },
  createView: { name: 'Walls', filter: { status: 'FAILED' } },
  changeView: { name: 'Walls' },
  switchMerchant: { merchantId: 'mrc_walls' },
  setWithdrawalPolicy: { secondPersonFrom: 100 },
  declineWithdrawal: { reason: 'Walls' },
  createRefund: { reference: 'WALLS-R', amount: 0.1 },
  declineRefund: { reason: 'Walls' },
  acceptInvitation: { token: 'invite_walls' },
  opsInviteMerchant: { environment: 'sandbox' },
  opsRevokeMerchantKey: { reason: 'Walls' },
  opsRevokeInvitation: { reason: 'Walls' },
  opsApproveChannel: { environment: 'sandbox' },
  opsAddCredentials: { credentials: { companyName: 'W', tillCode: '1', token: 'W', hashKey: 'W' } },
  opsRevokeCredentials: { reason: 'Walls' },
  opsSuspendChannel: { environment: 'sandbox', reason: 'Walls' },
  opsPlanMaintenance: { environment: 'sandbox', startsAt: inHours(24), endsAt: inHours(25), reason: 'Walls' },
  opsChangeFees: { rules: [{ direction: 'PAY_IN', channel: 'TELEBIRR', basisPoints: 1 }], reason: 'Walls' },
  opsChangeLimits: { rules: [{ direction: 'PAY_IN', channel: 'TELEBIRR', min: 1, max: 2 }], reason: 'Walls' },
  opsChangeSettlementLimit: { min: 1, max: 2, reason: 'Walls' },
  opsChangeReviewPolicy: { largeAmount: 1, twoPersonAmount: 2, perHourMax: 1, reason: 'Walls' },
  opsReviewKyc: { environment: 'sandbox' },
  opsApproveKyc: { environment: 'sandbox', submission: 1 },
  opsChangeTier: { environment: 'sandbox', tier: 1, reason: 'Walls' },
  opsRejectKyc: { environment: 'sandbox', submission: 1, reason: 'Walls' },
  opsRequestKycInfo: { environment: 'sandbox', submission: 1, reason: 'Walls' },
  opsRejectWithdrawal: { reason: 'Walls' },
  opsResolveWithdrawal: { outcome: 'COMPLETED', providerReference: 'WALLS-1', reason: 'Walls' },
  opsResolveRefund: { outcome: 'COMPLETED', providerReference: 'WALLS-1', reason: 'Walls' },
  opsResendDelivery: { reason: 'Walls' },
  opsCancelDelivery: { reason: 'Walls' },
  opsDismissDelivery: { reason: 'Walls' },
  opsResendDeliveries: { environment: 'sandbox', status: 'DEAD_LETTER', reason: 'Walls' },
  opsAcceptPayment: { attemptId: 'pat_1' },
  opsRejectPayment: { attemptId: 'pat_1', reason: 'Walls', reference: 'WALLS-1' },
  opsRejectSettlement: { reason: 'Walls' },
  opsSettlementCredited: { bankReference: 'WALLS-1', creditedOn: today },
  opsSettlementFailed: { reason: 'Walls' },
  opsSettlementReturned: { bankReference: 'WALLS-2', reason: 'Walls' },
  opsBookLateCredit: { reason: 'Walls' },
  opsDismissLateCredit: { reason: 'Walls' },
  opsRunReconciliation: { day: today },
  opsCloseDiscrepancy: { reason: 'Walls' },
  opsRecordRecovery: { withdrawalId: 'wd_1', reference: 'WALLS-4', reason: 'Walls' },
  opsRecordRefundRecovery: { refundId: 'rfd_1', reference: 'WALLS-6', reason: 'Walls' },
  opsDecideReceipt: { as: 'CORRECTED', reason: 'Walls' },
  opsVerifyBankAccount: { environment: 'sandbox', bankAccountId: 'bac_1' },
  opsRejectBankAccount: { environment: 'sandbox', bankAccountId: 'bac_1', reason: 'Walls' },
  opsAddHoliday: { date: '2033-01-03', name: 'Walls', kind: 'closed' },
  opsCreateOperator: { name: 'Walls', email: 'walls@meskot.example', role: 'viewer' },
  opsRevokeOperatorKey: { reason: 'Walls' },
  opsRevokeOwnKey: { reason: 'Walls' },
  opsRejectProposal: { reason: 'Walls' },
};

/** Path parameters that are not ids of a merchant's data. */
const COMMON: Record<string, string> = { channel: 'TELEBIRR', maintenanceId: 'mnt_1' };

/** Fails for a path parameter that is neither common nor an id of the merchant, so that new routes are covered. */
export function ownedNames(operation: Operation, merchant: Merchant): string[] {
  const owned = operation.pathNames.filter((name) => !Object.hasOwn(COMMON, name));
  for (const name of owned) {
    if (Object.hasOwn(merchant.ids, name)) continue;
    throw new Error(
      `${operation.name}: {${name}} has no id. Create one in test/tenant-isolation/belongings.ts and add it to ids, ` +
        "or, if it is not a merchant's, add a value to COMMON in test/tenant-isolation/samples.ts.",
    );
  }
  return owned;
}

/** The path with these ids. */
export function pathWith(operation: Operation, ids: Record<string, string>): string {
  return operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? COMMON[name] ?? 'none');
}

/** The query with all required parameters, as `?a=b`. */
export function validQuery(operation: Operation, more: Record<string, string> = {}): string {
  const query: Record<string, string> = { ...more };
  for (const name of operation.requiredQuery) {
    const value = QUERY[name];
    if (value === undefined) {
      throw new Error(
        `${operation.name} requires the query parameter ${name}: add a value to QUERY in test/tenant-isolation/samples.ts.`,
      );
    }
    query[name] ??= value;
  }
  const text = new URLSearchParams(query).toString();
  return text === '' ? '' : `?${text}`;
}

/** A valid body of a changing operation; undefined for GET. */
export function validBody(operation: Operation): object | undefined {
  if (operation.method === 'GET') return undefined;
  const [type] = operation.fileTypes;
  if (type !== undefined) return new Blob(['%PDF-1.7 walls'], { type });
  const body = operation.bodyExample ?? BODIES[operation.operationId];
  // Some schemas list fields with defaults as required: only an operation without any sample is a gap.
  if (!body && operation.requiredBody.length > 0) {
    throw new Error(
      `${operation.name} needs ${operation.requiredBody.join(', ')}: add a body under ${operation.operationId} to BODIES in test/tenant-isolation/samples.ts.`,
    );
  }
  return body ?? {};
}
