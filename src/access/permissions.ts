import type { OperatorRole } from '../http/route.ts';

/**
 * Every change that operators make, under its name in the audit log, and the roles that may make it besides admins.
 * `stepUp`: what approves money, a business or a setting, or gives access. What stops something needs no code.
 */
export const PERMISSIONS = {
  'merchant.create': { roles: ['admin'] },
  'merchant.invite-owner': { roles: ['admin'], stepUp: true },
  'merchant.suspend': { roles: ['admin'] },
  'merchant.resume': { roles: ['admin'], stepUp: true },
  'merchant.change-fees': { roles: ['admin'], stepUp: true },
  'merchant.change-limits': { roles: ['admin'], stepUp: true },
  'merchant.change-review': { roles: ['admin'], stepUp: true },
  'merchant.change-settlement-limit': { roles: ['admin'], stepUp: true },
  'key.invite': { roles: ['admin'], stepUp: true },
  'key.create': { roles: ['admin'] },
  'key.rotate': { roles: ['admin'] },
  'key.revoke': { roles: ['admin'] },
  'channel.approve': { roles: ['admin'], stepUp: true },
  'channel.suspend': { roles: ['admin'] },
  'channel.plan-maintenance': { roles: ['admin'] },
  'channel.cancel-maintenance': { roles: ['admin'] },
  'channel.add-credentials': { roles: ['admin'], stepUp: true },
  'channel.check-credentials': { roles: ['admin'] },
  'channel.activate-credentials': { roles: ['admin'], stepUp: true },
  'channel.revoke-credentials': { roles: ['admin'] },
  'kyc.review': { roles: ['support'] },
  'kyc.approve': { roles: ['admin'], stepUp: true },
  'kyc.reject': { roles: ['admin'] },
  'kyc.request-info': { roles: ['support'] },
  'kyc.change-tier': { roles: ['admin'], stepUp: true },
  'withdrawal.approve': { roles: ['finance'], stepUp: true },
  'withdrawal.reject': { roles: ['finance'] },
  'withdrawal.resolve': { roles: ['finance'], stepUp: true },
  'refund.resolve': { roles: ['finance'], stepUp: true },
  'settlement.approve': { roles: ['finance'], stepUp: true },
  'settlement.reject': { roles: ['finance'] },
  'settlement.sent': { roles: ['finance'], stepUp: true },
  'settlement.credited': { roles: ['finance'] },
  'settlement.failed': { roles: ['finance'] },
  'settlement.returned': { roles: ['finance'] },
  'settlement.book-credit': { roles: ['finance'], stepUp: true },
  'settlement.dismiss-credit': { roles: ['finance'] },
  'bank-account.verify': { roles: ['finance'], stepUp: true },
  'bank-account.reject': { roles: ['finance'] },
  'reconciliation.run': { roles: ['finance'] },
  'reconciliation.close': { roles: ['finance'] },
  'receipt.record-remittance': { roles: ['finance'] },
  'receipt.record-unallocated': { roles: ['finance'] },
  'receipt.record-recovery': { roles: ['finance'] },
  'receipt.decide': { roles: ['finance'], stepUp: true },
  'payment.accept': { roles: ['support', 'finance'], stepUp: true },
  'payment.return': { roles: ['support', 'finance'] },
  'delivery.resend': { roles: ['support'] },
  'delivery.cancel': { roles: ['support'] },
  'delivery.dismiss': { roles: ['support'] },
  'delivery.resend-many': { roles: ['support'] },
  'delivery.cancel-resend-job': { roles: ['support'] },
  'holiday.add': { roles: ['admin'] },
  'holiday.change': { roles: ['admin'] },
  'holiday.remove': { roles: ['admin'] },
  'operator.create': { roles: ['admin'], stepUp: true },
  'operator.change': { roles: ['admin'], stepUp: true },
  'operator.invite': { roles: ['admin'], stepUp: true },
  'invitation.revoke': { roles: ['admin'] },
  'operator-key.create': { roles: ['viewer'], stepUp: true },
  'operator-key.rotate': { roles: ['viewer'], stepUp: true },
  'operator-key.revoke': { roles: ['admin'] },
  'proposal.create': { roles: ['viewer'] },
  'proposal.reject': { roles: ['viewer'] },
  'proposal.withdraw': { roles: ['viewer'] },
} as const satisfies Readonly<Record<string, { roles: readonly OperatorRole[]; stepUp?: true }>>;

export type Action = keyof typeof PERMISSIONS;

export const ACTIONS = Object.keys(PERMISSIONS) as [Action, ...Action[]];

/** The changes that need a code of the last 5 minutes at the console. The confirmation of a proposal needs one too. */
export const STEP_UP_ACTIONS = ACTIONS.filter((action) => 'stepUp' in PERMISSIONS[action]);

/** What a role may do, and who may do what it may not. */
export function accessOf(role: OperatorRole) {
  const rolesOf = (action: Action): readonly OperatorRole[] => [
    ...new Set([...PERMISSIONS[action].roles, 'admin' as const]),
  ];
  const isAllowed = (action: Action): boolean => rolesOf(action).some((one) => one === role || one === 'viewer');
  const denied = ACTIONS.filter((action) => !isAllowed(action));
  return {
    permissions: ACTIONS.filter(isAllowed),
    denied: denied.map((permission) => ({ permission, roles: rolesOf(permission) })),
  };
}

/** The `auth` of a route that needs this permission. */
export function requirePermission(action: Action): { by: 'operator'; roles: readonly OperatorRole[] } {
  return { by: 'operator', roles: PERMISSIONS[action].roles };
}
