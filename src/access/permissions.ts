import type { OperatorRole } from '../http/route.ts';

/** Every change that operators make, under its name in the audit log, and the roles that may make it besides admins. */
export const PERMISSIONS = {
  'merchant.create': ['admin'],
  'merchant.invite-owner': ['admin'],
  'merchant.suspend': ['admin'],
  'merchant.resume': ['admin'],
  'merchant.change-fees': ['admin'],
  'merchant.change-limits': ['admin'],
  'merchant.change-review': ['admin'],
  'merchant.change-settlement-limit': ['admin'],
  'key.invite': ['admin'],
  'key.create': ['admin'],
  'key.rotate': ['admin'],
  'key.revoke': ['admin'],
  'channel.approve': ['admin'],
  'channel.suspend': ['admin'],
  'channel.plan-maintenance': ['admin'],
  'channel.cancel-maintenance': ['admin'],
  'channel.add-credentials': ['admin'],
  'channel.check-credentials': ['admin'],
  'channel.activate-credentials': ['admin'],
  'channel.revoke-credentials': ['admin'],
  'kyc.review': ['support'],
  'kyc.approve': ['admin'],
  'kyc.reject': ['admin'],
  'kyc.request-info': ['support'],
  'kyc.change-tier': ['admin'],
  'withdrawal.approve': ['finance'],
  'withdrawal.reject': ['finance'],
  'withdrawal.resolve': ['finance'],
  'refund.resolve': ['finance'],
  'settlement.approve': ['finance'],
  'settlement.reject': ['finance'],
  'settlement.sent': ['finance'],
  'settlement.credited': ['finance'],
  'settlement.failed': ['finance'],
  'settlement.returned': ['finance'],
  'settlement.book-credit': ['finance'],
  'settlement.dismiss-credit': ['finance'],
  'bank-account.verify': ['finance'],
  'bank-account.reject': ['finance'],
  'reconciliation.run': ['finance'],
  'reconciliation.close': ['finance'],
  'receipt.record-remittance': ['finance'],
  'receipt.record-unallocated': ['finance'],
  'receipt.record-recovery': ['finance'],
  'receipt.decide': ['finance'],
  'payment.accept': ['support', 'finance'],
  'payment.return': ['support', 'finance'],
  'delivery.resend': ['support'],
  'delivery.cancel': ['support'],
  'delivery.dismiss': ['support'],
  'delivery.resend-many': ['support'],
  'delivery.cancel-resend-job': ['support'],
  'holiday.add': ['admin'],
  'holiday.change': ['admin'],
  'holiday.remove': ['admin'],
  'operator.create': ['admin'],
  'operator.change': ['admin'],
  'operator.invite': ['admin'],
  'invitation.revoke': ['admin'],
  'operator-key.create': ['viewer'],
  'operator-key.rotate': ['viewer'],
  'operator-key.revoke': ['admin'],
  'proposal.create': ['viewer'],
  'proposal.reject': ['viewer'],
  'proposal.withdraw': ['viewer'],
} as const satisfies Readonly<Record<string, readonly OperatorRole[]>>;

export type Action = keyof typeof PERMISSIONS;

export const ACTIONS = Object.keys(PERMISSIONS) as [Action, ...Action[]];

/**
 * What an operator does at the console only with a code of the last 5 minutes: approve money, a business or a setting, and
 * give access. What stops something needs none. The confirmation of a proposal needs one too.
 */
export const STEP_UP_ACTIONS: readonly Action[] = [
  'merchant.invite-owner',
  'merchant.resume',
  'merchant.change-fees',
  'merchant.change-limits',
  'merchant.change-review',
  'merchant.change-settlement-limit',
  'key.invite',
  'channel.approve',
  'channel.add-credentials',
  'channel.activate-credentials',
  'kyc.approve',
  'kyc.change-tier',
  'withdrawal.approve',
  'withdrawal.resolve',
  'refund.resolve',
  'settlement.approve',
  'settlement.sent',
  'settlement.book-credit',
  'bank-account.verify',
  'receipt.decide',
  'payment.accept',
  'operator.create',
  'operator.change',
  'operator.invite',
  'operator-key.create',
  'operator-key.rotate',
];

/** What a role may do, and who may do what it may not. */
export function accessOf(role: OperatorRole) {
  const rolesOf = (action: Action): readonly OperatorRole[] => [...new Set([...PERMISSIONS[action], 'admin' as const])];
  const isAllowed = (action: Action): boolean => rolesOf(action).some((one) => one === role || one === 'viewer');
  const denied = ACTIONS.filter((action) => !isAllowed(action));
  return {
    permissions: ACTIONS.filter(isAllowed),
    denied: denied.map((permission) => ({ permission, roles: rolesOf(permission) })),
  };
}

/** The `auth` of a route that needs this permission. */
export function requirePermission(action: Action): { by: 'operator'; roles: readonly OperatorRole[] } {
  return { by: 'operator', roles: PERMISSIONS[action] };
}
