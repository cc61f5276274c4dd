import { RESOLUTIONS } from '../../src/providers/states.ts';
import { CHANNEL_VALUES } from '../ui/channel-text.ts';
import { ADMINISTRATION } from './administration.ts';
import { text } from './commands-text.ts';

export type Values = readonly (readonly [value: string, caption: string])[];

/** A field of a command's body, by the API's name. */
export type CommandField = { name: string; label: string; hint?: string; isRequired?: boolean } &
  /** instant: typed as the clock of Addis Ababa shows it, and sent with its offset. */
  ({ kind: 'text' | 'email' | 'birr' | 'whole' | 'day' | 'instant' | 'check' } | { kind: 'choice'; values: Values });

/** How a command is asked for and sent. */
export type Spec = {
  /** Where it is not the name of the command. */
  permission?: string;
  method?: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  label: string;
  /** What follows from it. */
  help?: string;
  kind?: 'primary' | 'danger';
  fields?: readonly CommandField[];
  /** The list of the body whose only element has the fields. */
  wrap?: string;
  reason: 'required' | 'optional' | 'none';
  /** Of the toast afterwards. */
  done?: string;
};

const OUTCOMES: Values = RESOLUTIONS.map((one) => [one, { COMPLETED: text.completed, FAILED: text.failed }[one]]);
const REFUND_OUTCOMES: Values = RESOLUTIONS.map((one) => [
  one,
  { COMPLETED: text.refunded, FAILED: text.notRefunded }[one],
]);
const bankReference = { name: 'bankReference', label: text.bankReference, kind: 'text' } as const;
const REQUIRED = { isRequired: true } as const;
const APPROVE = { label: text.approve, kind: 'primary', reason: 'optional' } as const;
const REJECT = { label: text.reject, kind: 'danger', reason: 'required', help: text.rejectHelp } as const;

/** The commands of operators, each under the name of its permission in the audit log. */
const COMMANDS = {
  'delivery.resend': {
    label: text.resend,
    help: text.resendHelp,
    kind: 'primary',
    reason: 'required',
    done: text.resent,
  },
  'delivery.resend-delivered': {
    permission: 'delivery.resend',
    label: text.resendDelivered,
    help: text.resendDeliveredHelp,
    reason: 'required',
    done: text.resent,
  },
  'delivery.dismiss': { label: text.dismiss, help: text.dismissHelp, reason: 'required' },
  'delivery.cancel': { label: text.giveUp, help: text.giveUpHelp, kind: 'danger', reason: 'required' },
  'withdrawal.approve': APPROVE,
  'withdrawal.reject': REJECT,
  'withdrawal.resolve': {
    label: text.resolve,
    help: text.resolveHelp,
    kind: 'primary',
    fields: [
      { name: 'outcome', label: text.outcome, kind: 'choice', values: OUTCOMES, ...REQUIRED },
      { name: 'providerReference', label: text.providerReference, kind: 'text', ...REQUIRED },
      { name: 'paidAmount', label: text.paidAmount, kind: 'birr' },
    ],
    reason: 'required',
  },
  'refund.resolve': {
    label: text.resolve,
    help: text.resolveHelp,
    kind: 'primary',
    fields: [
      { name: 'outcome', label: text.outcome, kind: 'choice', values: REFUND_OUTCOMES, ...REQUIRED },
      { name: 'providerReference', label: text.providerReference, kind: 'text', ...REQUIRED },
      { name: 'paidAmount', label: text.paidAmount, kind: 'birr' },
    ],
    reason: 'required',
  },
  'settlement.approve': APPROVE,
  'settlement.reject': REJECT,
  'settlement.sent': {
    label: text.sent,
    help: text.sentHelp,
    kind: 'primary',
    fields: [bankReference],
    reason: 'optional',
  },
  'settlement.credited': {
    label: text.credited,
    kind: 'primary',
    fields: [
      { ...bankReference, ...REQUIRED },
      { name: 'creditedOn', label: text.creditedOn, kind: 'day', ...REQUIRED },
      { name: 'amount', label: text.creditedAmount, kind: 'birr' },
    ],
    reason: 'optional',
  },
  'settlement.failed': {
    label: text.bankFailed,
    help: text.failedHelp,
    kind: 'danger',
    fields: [bankReference],
    reason: 'required',
  },
  'settlement.returned': {
    label: text.returned,
    help: text.returnedHelp,
    kind: 'danger',
    fields: [{ ...bankReference, ...REQUIRED }],
    reason: 'required',
  },
  'settlement.book-credit': { label: text.bookCredit, kind: 'primary', reason: 'required' },
  'settlement.dismiss-credit': { label: text.dismissCredit, kind: 'danger', reason: 'required' },
  'payment.accept': { label: text.accept, help: text.acceptHelp, kind: 'primary', reason: 'optional' },
  'payment.return': {
    label: text.giveBack,
    help: text.giveBackHelp,
    fields: [{ name: 'reference', label: text.returnReference, kind: 'text', ...REQUIRED }],
    reason: 'required',
  },
  'kyc.review': { label: text.beginReview, reason: 'optional' },
  'kyc.approve': { ...APPROVE, fields: [{ name: 'tier', label: text.tier, hint: text.tierHint, kind: 'whole' }] },
  'kyc.reject': REJECT,
  'kyc.request-info': { label: text.requestInfo, help: text.requestInfoHelp, reason: 'required' },
  'kyc.change-tier': {
    method: 'PUT',
    label: text.changeTier,
    fields: [{ name: 'tier', label: text.tier, kind: 'whole', ...REQUIRED }],
    reason: 'required',
  },
  'bank-account.verify': { label: text.verify, kind: 'primary', reason: 'optional' },
  'bank-account.reject': REJECT,
  'channel.approve': APPROVE,
  'channel.suspend': { label: text.suspend, kind: 'danger', reason: 'required' },
  'channel.check-credentials': { label: text.check, reason: 'none' },
  'channel.activate-credentials': {
    label: text.activate,
    kind: 'primary',
    fields: [{ name: 'overlapHours', label: text.overlapHours, kind: 'whole' }],
    reason: 'optional',
  },
  'channel.revoke-credentials': { label: text.revoke, kind: 'danger', reason: 'required' },
  'proposal.confirm': { label: text.confirm, help: text.confirmHelp, kind: 'primary', reason: 'optional' },
  'proposal.reject': { label: text.reject, kind: 'danger', reason: 'required' },
  'proposal.withdraw': { label: text.withdraw, reason: 'optional' },
  'merchant.suspend': { label: text.suspend, help: text.suspendHelp, kind: 'danger', reason: 'required' },
  'merchant.resume': { label: text.resume, kind: 'primary', reason: 'required' },
  'reconciliation.run': {
    label: text.run,
    fields: [
      { name: 'day', label: text.day, kind: 'day', ...REQUIRED },
      { name: 'channel', label: text.channel, kind: 'choice', values: CHANNEL_VALUES },
    ],
    reason: 'optional',
  },
  'reconciliation.close': { label: text.closeIt, kind: 'primary', reason: 'required' },
  'receipt.decide': {
    label: text.decide,
    kind: 'primary',
    fields: [
      {
        name: 'as',
        label: text.as,
        kind: 'choice',
        values: [
          ['ALLOCATED', text.allocated],
          ['RETURNED', text.returnedTo],
          ['CORRECTED', text.corrected],
        ],
        ...REQUIRED,
      },
      { name: 'channel', label: text.channel, kind: 'choice', values: CHANNEL_VALUES },
      { name: 'returnReference', label: text.returnReference, kind: 'text' },
    ],
    reason: 'required',
  },
  'receipt.record-recovery': {
    label: text.recovered,
    help: text.recoveredHelp,
    kind: 'primary',
    fields: [{ name: 'reference', label: text.providerReference, kind: 'text', ...REQUIRED }],
    reason: 'required',
  },
  ...ADMINISTRATION,
} as const satisfies Record<string, Spec>;

export type CommandName = keyof typeof COMMANDS;
export type Command = Spec & { permission: string };

/** The command of this name. */
export const commandOf = (name: CommandName): Command => ({ permission: name, ...COMMANDS[name] });
