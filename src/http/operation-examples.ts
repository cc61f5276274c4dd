import type { ErrorCode } from '../lib/errors.ts';
import type { ErrorExample } from './error-docs.ts';

type ByOperation = Readonly<Record<string, ErrorExample>>;

const SETTLEMENT = 'stl_01KG9Y5T40V6M2X8R3N7Q1W4ZC';
const BANK_MONEY = 'bkm_01KG9Y5T40V6M2X8R3N7Q1W4ZC';
const ATTEMPT = 'pat_01KG9Y5T40V6M2X8R3N7Q1W4ZC';

const becomes = (status: string, from: string, to: string): ErrorExample => ({
  message: `This settlement is ${status}: only one that is ${from} can become ${to}.`,
});
const application = (status: string, allowed: string): ErrorExample => ({
  message: `This application is ${status}: that is possible only while it is ${allowed}.`,
});
const booked = (field: string): ErrorExample => ({
  message: `${field} "FT26031XYZ" was booked as a transfer, 120.00 ETB, on 2026-01-30 (${BANK_MONEY}). Where that is wrong, correct it first.`,
  existing: { bankMoneyId: BANK_MONEY },
});
const credited: ErrorExample = {
  message: `bankReference "FT26031XYZ" was booked as a settlement, 120.00 ETB, on 2026-01-30 (${SETTLEMENT}). Look at the bank's statement again.`,
  existing: { settlementId: SETTLEMENT },
};
const holiday: ErrorExample = {
  message:
    'name must differ from that of another holiday on 2026-03-02, got "Adwa Victory Day": change that one (hol_01KG9Y5T40V6M2X8R3N7Q1W4ZC), or disable it',
  existing: { holidayId: 'hol_01KG9Y5T40V6M2X8R3N7Q1W4ZC' },
};
const ENDED_KEY = { message: 'The key key_01KG9Y5T40V6M2X8R3N7Q1W4ZC was revoked. Create a new key.' };
const APPROVED = { message: 'This application is APPROVED and can be changed no more: you are verified.' };

/** The error of an operation that the state of its resource does not allow. */
const INVALID_STATE: ByOperation = {
  expireSession: { message: 'the session is COMPLETED and cannot be expired' },
  paySession: {
    message:
      'another payment of this session is in progress; wait for its end, or cancel it: its provider is asked first',
  },
  cancelWithdrawal: {
    message:
      'This withdrawal was sent to its provider already (SUBMITTED): only one that was not sent yet can be cancelled.',
  },
  cancelSettlement: becomes('PROCESSING', 'REQUESTED', 'CANCELLED'),
  advanceSandboxSettlement: { message: 'This settlement is COMPLETED: it has no further step.' },
  createReport: { message: '10 reports are pending: wait until one is complete, or cancel one.' },
  cancelReport: { message: 'The report is READY: there is nothing to cancel.' },
  getReportFile: { message: 'The report is RUNNING: it has no file.' },
  saveKyc: APPROVED,
  submitKyc: APPROVED,
  uploadKycDocument: APPROVED,
  resendWebhookEvent: {
    message: 'The delivery is DELIVERED and cannot be resent: it was delivered: pass "force": true to send it again.',
  },
  resendWebhookEvents: { message: '5 resend jobs are running: wait for one to end, or cancel it.' },
  cancelWebhookResendJob: { message: 'The resend job is DONE: there is nothing to cancel.' },
  createWebhookSubscription: {
    message: 'There are 16 subscriptions, which is the maximum: delete one first.',
  },
  rotateWebhookSecret: {
    message:
      'The secret has been rotated, and the previous one signs until 2026-02-01T12:00:00.000Z. Wait, or pass "force": true to end it now.',
  },
  sendWebhookTestEvent: { message: 'The subscription is inactive: activate it, then send the test event.' },
  opsReviewKyc: application('APPROVED', 'SUBMITTED'),
  opsApproveKyc: application('REJECTED', 'SUBMITTED or UNDER_REVIEW'),
  opsRejectKyc: application('APPROVED', 'SUBMITTED or UNDER_REVIEW'),
  opsRequestKycInfo: application('APPROVED', 'SUBMITTED or UNDER_REVIEW'),
  opsChangeTier: application('SUBMITTED', 'APPROVED'),
  opsApproveWithdrawal: { message: 'This withdrawal is SUCCESS: only one under review can be decided.' },
  opsRejectWithdrawal: { message: 'This withdrawal is SUCCESS: only one that was not sent yet can be rejected.' },
  opsResolveWithdrawal: {
    message: 'Its provider is being queried at this moment: try again in ten seconds.',
  },
  opsAcceptPayment: { message: `The money of ${ATTEMPT} went back already: that cannot be decided again.` },
  opsRejectPayment: {
    message: `The money of ${ATTEMPT} went back already, under the reference FT26031XYZ: it cannot go back a second time.`,
  },
  opsApproveSettlement: becomes('CANCELLED', 'REQUESTED', 'APPROVED'),
  opsRejectSettlement: becomes('PROCESSING', 'REQUESTED', 'REJECTED'),
  opsSettlementSent: becomes('COMPLETED', 'APPROVED', 'PROCESSING'),
  opsSettlementCredited: becomes('CANCELLED', 'PROCESSING', 'COMPLETED'),
  opsSettlementFailed: becomes('COMPLETED', 'PROCESSING', 'FAILED'),
  opsSettlementReturned: becomes('REQUESTED', 'COMPLETED', 'FAILED'),
  opsBookLateCredit: { message: 'This settlement is COMPLETED: it has no late credit to decide.' },
  opsDismissLateCredit: { message: 'This settlement is COMPLETED: it has no late credit to decide.' },
  opsVerifyBankAccount: { message: 'This bank account is VERIFIED: only one that is PENDING.' },
  opsRejectBankAccount: { message: 'This bank account is REJECTED: only one that is PENDING or VERIFIED.' },
  opsCloseDifference: { message: 'Difference rcd_01KG9Y5T40V6M2X8R3N7Q1W4ZC was closed before by another operator.' },
  opsBookExcess: {
    message:
      'wd_01KG9Y5T40V6M2X8R3N7Q1W4ZC was not paid more than its amount: there is nothing that its provider could take back.',
  },
  opsSettleBankMoney: { message: `${BANK_MONEY} was corrected: it no longer counts.` },
  opsRemoveHoliday: {
    message: 'Meskel of 2026-09-27 is computed and cannot be removed: disable it with "active": false.',
  },
  opsChangeOperator: { message: 'This is the last active admin: create another one first.' },
  opsInviteOperator: { message: 'This operator is inactive: no key is created.' },
  opsRotateOwnKey: { message: 'The key opk_01KG9Y5T40V6M2X8R3N7Q1W4ZC has ended. Create a new key.' },
  opsInviteMerchantRotation: ENDED_KEY,
  acceptInvitation: ENDED_KEY,
  opsConfirmProposal: {
    message: 'It has changed since this was proposed. Reject the proposal, and propose it again.',
  },
  opsRejectProposal: { message: 'You proposed this: another operator has to reject it. You can withdraw it.' },
  opsWithdrawProposal: {
    message: 'This proposal is CONFIRMED: only one that is PENDING can be confirmed, rejected or withdrawn.',
  },
};

/** The error of an operation whose reference is used already, with the ids it names. */
const DUPLICATE_REFERENCE: ByOperation = {
  createSession: {
    message: 'checkoutOrderNo "ORDER-1001" is already used by another session; read that one or use a new number',
    existing: { sessionId: 'cs_01KG9Y5T40V6M2X8R3N7Q1W4ZC' },
  },
  createWithdrawal: {
    message: 'requestId "OUT-1" was used before for another withdrawal, wd_01KG9Y5T40V6M2X8R3N7Q1W4ZC; use a new one',
    existing: { withdrawalRequestId: 'wd_01KG9Y5T40V6M2X8R3N7Q1W4ZC' },
  },
  createSettlement: {
    message: `requestId "SETTLE-1" was used before for another settlement, ${SETTLEMENT}; use a new one`,
    existing: { settlementId: SETTLEMENT },
  },
  opsSettlementCredited: credited,
  opsSettlementReturned: booked('bankReference'),
  opsBookLateCredit: credited,
  opsBookTransfer: booked('bankReference'),
  opsBookUnmatchedMoney: booked('bankReference'),
  opsBookExcess: booked('reference'),
  opsSettleBankMoney: booked('returnReference'),
  opsConfirmProposal: booked('bankReference'),
  opsAddHoliday: holiday,
  opsChangeHoliday: holiday,
  opsCreateOperator: {
    message: 'email must differ from that of another operator.',
    existing: { operatorId: 'opr_01KG9Y5T40V6M2X8R3N7Q1W4ZC' },
  },
};

/** Errors whose text is the operation's own, by code. */
export const EXAMPLES_BY_OPERATION: Partial<Readonly<Record<ErrorCode, ByOperation>>> = {
  INVALID_STATE,
  DUPLICATE_REFERENCE,
};

/**
 * Bodies by operation, where the examples of the fields do not make a valid one together: "Try it" of the docs sends
 * them unless they are changed.
 */
export const BODY_EXAMPLES: Readonly<Record<string, object>> = {
  createSession: {
    checkoutOrderNo: 'ORDER-1001',
    amount: 250.5,
    currency: 'ETB',
    successUrl: 'https://shop.example.et/thanks',
    customerName: 'Abebe Bikila',
    customerPhone: '+251911223344',
    metadata: { basket: '42' },
  },
  createWithdrawal: {
    requestId: 'PAYROLL-2026-11-7',
    amount: 250.5,
    channel: 'TELEBIRR',
    destination: { phone: '0911000001', accountName: 'Abebe Bikila' },
  },
  createSettlement: { requestId: 'SETTLE-2026-11-21', amount: 2500.5 },
  createReport: { kind: 'payments', period: 'month', status: 'SUCCESS', format: 'CSV' },
  saveKyc: {
    legalName: 'Abyssinia Coffee PLC',
    tradeName: 'Abyssinia Coffee',
    businessType: 'PRIVATE_LIMITED_COMPANY',
    tin: '0012345678',
    tradeLicenceNumber: 'AA/1234/2018',
    address: 'Bole, Woreda 3, House 12',
    region: 'ADDIS_ABABA',
    contactPerson: 'Almaz Ayana',
    email: 'almaz@coffee.example.et',
    phone: '0911000001',
    website: 'https://coffee.example.et',
    expectedMonthlyVolume: 250_000,
  },
  opsCreateMerchant: { name: 'Abyssinia Coffee PLC' },
  opsBookTransfer: {
    environment: 'sandbox',
    channel: 'TELEBIRR',
    amount: 250.5,
    bankReference: 'FT26031XYZ',
    reason: 'as the statement of 31 January says',
  },
  opsBookUnmatchedMoney: { environment: 'sandbox', amount: 250.5, bankReference: 'FT26031XYZ' },
};
