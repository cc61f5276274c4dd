import { CHANNEL_VALUES } from '../ui/channel-text.ts';
import { ROLES } from '../ui/role-text.ts';
import { text } from './administration-text.ts';
import { DIRECTIONS, HOLIDAY_KINDS } from './codes.ts';
import { text as shared } from './commands-text.ts';
import type { Spec, Values } from './commands.ts';

const REQUIRED = { isRequired: true } as const;
const direction = (values: readonly (keyof typeof DIRECTIONS)[]) => {
  const named: Values = values.map((one) => [one, DIRECTIONS[one]]);
  return { name: 'direction', label: text.direction, kind: 'choice', values: named, ...REQUIRED } as const;
};
const channel = { name: 'channel', label: shared.channel, kind: 'choice', values: CHANNEL_VALUES } as const;
const birr = (name: string, label: string) => ({ name, label, kind: 'birr', ...REQUIRED }) as const;
const min = birr('min', text.min);
const max = birr('max', text.max);
const PROPOSED = { method: 'PUT', label: text.changeRule, help: text.proposedHelp, reason: 'required' } as const;

const VALID_FROM = { name: 'validFrom', label: text.validFrom, hint: text.startsAtHint, kind: 'instant' } as const;

const HOLIDAY_FIELDS = [
  { name: 'date', label: text.date, kind: 'day', ...REQUIRED },
  { name: 'name', label: text.name, kind: 'text', ...REQUIRED },
  { name: 'nameAm', label: text.nameAm, kind: 'text' },
  {
    name: 'kind',
    label: text.kind,
    kind: 'choice',
    values: [
      ['closed', HOLIDAY_KINDS.closed],
      ['memorial', HOLIDAY_KINDS.memorial],
    ],
    ...REQUIRED,
  },
] as const;
const role = {
  name: 'role',
  label: text.role,
  kind: 'choice',
  values: (['viewer', 'support', 'finance', 'admin'] as const).map((one) => [one, ROLES[one]] as const),
  ...REQUIRED,
} as const;
const keyFields = (daysHint: string) =>
  [
    { name: 'name', label: text.keyName, kind: 'text' },
    { name: 'days', label: text.keyDays, hint: daysHint, kind: 'whole' },
  ] as const;
const RECEIPT_FIELDS = [
  birr('amount', text.amount),
  { name: 'bankReference', label: shared.bankReference, kind: 'text', ...REQUIRED },
] as const;

/** The commands that administer, each under the name of its permission unless it has another. */
export const ADMINISTRATION = {
  'merchant.create': {
    label: text.createMerchant,
    kind: 'primary',
    fields: [{ name: 'name', label: text.merchantName, kind: 'text', ...REQUIRED }],
    reason: 'none',
  },
  'merchant.change-fees': {
    ...PROPOSED,
    wrap: 'rules',
    fields: [
      direction(['PAY_IN', 'PAY_OUT', 'SETTLEMENT']),
      channel,
      { name: 'basisPoints', label: text.basisPoints, hint: text.basisHint, kind: 'whole', ...REQUIRED },
      { name: 'fixed', label: text.fixed, kind: 'birr' },
      { name: 'min', label: text.min, kind: 'birr' },
      { name: 'max', label: text.max, kind: 'birr' },
      { name: 'taxBasisPoints', label: text.tax, kind: 'whole' },
      { name: 'returnedOnRefund', label: text.returnedOnRefund, kind: 'check' },
      VALID_FROM,
    ],
  },
  'merchant.change-limits': {
    ...PROPOSED,
    wrap: 'rules',
    fields: [
      direction(['PAY_IN', 'PAY_OUT']),
      { ...channel, ...REQUIRED },
      min,
      max,
      { name: 'daily', label: text.daily, kind: 'birr' },
      VALID_FROM,
    ],
  },
  'merchant.change-review': {
    ...PROPOSED,
    fields: [
      birr('largeAmount', text.largeAmount),
      birr('twoPersonAmount', text.twoPersonAmount),
      { name: 'perHourMax', label: text.perHourMax, kind: 'whole', ...REQUIRED },
    ],
  },
  'merchant.change-settlement-limit': { ...PROPOSED, fields: [min, max] },
  'merchant.invite-owner': {
    label: text.inviteOwner,
    help: text.inviteOwnerHelp,
    fields: [{ name: 'email', label: text.ownerEmail, kind: 'email', ...REQUIRED }],
    reason: 'required',
  },
  'key.invite': {
    label: text.inviteKey,
    help: text.inviteKeyHelp,
    fields: keyFields(text.keyDaysHint),
    reason: 'none',
  },
  'key.invite-rotation': {
    permission: 'key.invite',
    label: text.inviteRotation,
    help: text.inviteRotationHelp,
    fields: [{ name: 'overlapHours', label: text.keyOverlap, hint: text.keyOverlapHint, kind: 'whole' }],
    reason: 'none',
  },
  'invitation.revoke': {
    label: shared.revoke,
    help: text.revokeInvitationHelp,
    kind: 'danger',
    reason: 'required',
  },
  'operator-key.create': {
    label: text.createKey,
    kind: 'primary',
    fields: keyFields(text.ownKeyDaysHint),
    reason: 'none',
  },
  'operator-key.rotate': {
    label: text.rotateKey,
    help: text.rotateKeyHelp,
    fields: [
      { name: 'overlapHours', label: text.keyOverlap, hint: text.keyOverlapHint, kind: 'whole' },
      { name: 'days', label: text.keyDays, hint: text.ownKeyDaysHint, kind: 'whole' },
    ],
    reason: 'none',
  },
  'operator-key.revoke': { label: shared.revoke, help: text.revokeKeyHelp, kind: 'danger', reason: 'required' },
  'own-key.revoke': { permission: 'operator-key.create', label: shared.revoke, kind: 'danger', reason: 'required' },
  'channel.plan-maintenance': {
    label: text.planMaintenance,
    help: text.maintenanceHelp,
    fields: [
      { name: 'startsAt', label: text.startsAt, hint: text.startsAtHint, kind: 'instant' },
      { name: 'endsAt', label: text.endsAt, hint: text.addisTime, kind: 'instant', ...REQUIRED },
      { name: 'reasonAm', label: text.reasonAm, kind: 'text' },
    ],
    reason: 'required',
  },
  'channel.cancel-maintenance': { label: text.endMaintenance, kind: 'danger', reason: 'optional' },
  'key.revoke': { label: shared.revoke, kind: 'danger', reason: 'required' },
  'holiday.add': {
    label: text.addHoliday,
    help: text.holidayHelp,
    kind: 'primary',
    fields: HOLIDAY_FIELDS,
    reason: 'optional',
  },
  'holiday.change': {
    method: 'PATCH',
    label: text.change,
    help: text.holidayHelp,
    fields: [
      ...HOLIDAY_FIELDS,
      { name: 'confirmed', label: text.confirmed, kind: 'check' },
      { name: 'active', label: text.active, kind: 'check' },
    ],
    reason: 'optional',
  },
  'holiday.remove': {
    method: 'DELETE',
    label: text.remove,
    help: text.holidayHelp,
    kind: 'danger',
    reason: 'optional',
  },
  'operator.create': {
    label: text.createOperator,
    kind: 'primary',
    fields: [
      { name: 'name', label: text.name, kind: 'text', ...REQUIRED },
      { name: 'email', label: text.email, kind: 'email', ...REQUIRED },
      role,
    ],
    reason: 'none',
  },
  'operator.change': { method: 'PATCH', label: text.changeRole, fields: [role], reason: 'optional' },
  'operator.activate': {
    permission: 'operator.change',
    method: 'PATCH',
    label: text.activate,
    reason: 'optional',
  },
  'operator.deactivate': {
    permission: 'operator.change',
    method: 'PATCH',
    label: text.deactivate,
    kind: 'danger',
    reason: 'optional',
  },
  'operator.invite': { label: text.inviteAgain, reason: 'optional' },
  'receipt.record-remittance': {
    label: text.recordRemittance,
    fields: [...RECEIPT_FIELDS, { ...channel, ...REQUIRED }],
    reason: 'optional',
  },
  'receipt.record-unallocated': { label: text.recordUnallocated, fields: RECEIPT_FIELDS, reason: 'optional' },
} as const satisfies Record<string, Spec>;
