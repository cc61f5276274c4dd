import { MEMBER_ROLES, PERMISSIONS_OF_PEOPLE, type MemberRole, type PersonPermission } from '../../http/people.ts';
import { SCOPES, type Scope } from '../../http/route.ts';

type Access = { scopes: readonly Scope[]; permissions: readonly PersonPermission[] };

const MONEY_OUT: readonly Scope[] = ['withdrawals:write', 'settlements:write', 'bank:write'];
const OF_OWNERS: readonly PersonPermission[] = ['owners:write', 'security-policy:write'];
const PAYMENTS: readonly Scope[] = ['transactions:read', 'checkout:read', 'refunds:read'];
const MONEY: readonly Scope[] = ['balance:read', 'withdrawals:read', 'settlements:read'];
const REPORTS: readonly Scope[] = ['reports:read', 'reports:write'];

/** What each role may do: the scopes of keys, and what only people do. */
export const ROLES: Readonly<Record<MemberRole, Access>> = {
  owner: { scopes: SCOPES, permissions: PERMISSIONS_OF_PEOPLE },
  admin: {
    scopes: SCOPES.filter((scope) => !MONEY_OUT.includes(scope)),
    permissions: PERMISSIONS_OF_PEOPLE.filter((permission) => !OF_OWNERS.includes(permission)),
  },
  finance: {
    scopes: [...PAYMENTS, ...MONEY, ...MONEY_OUT, ...REPORTS, 'webhooks:read', 'channels:read'],
    permissions: ['phones:read', 'reports:money', 'bank:read', 'kyc:read', 'audit:read', 'audit:read-all'],
  },
  developer: {
    scopes: [...PAYMENTS, ...REPORTS, 'webhooks:read', 'webhooks:write', 'channels:read', 'requests:read'],
    permissions: [
      'phones:read',
      'kyc:read',
      'webhooks:resend',
      'keys:read',
      'keys:write',
      'live-keys:read',
      'audit:read',
    ],
  },
  support: {
    scopes: [...PAYMENTS, ...REPORTS, 'webhooks:read'],
    permissions: ['phones:read', 'webhooks:resend', 'audit:read'],
  },
  viewer: {
    scopes: [...PAYMENTS, ...MONEY, 'reports:read', 'webhooks:read', 'channels:read'],
    permissions: ['reports:money', 'bank:read', 'kyc:read', 'audit:read', 'audit:read-all'],
  },
};

export const ALL_PERMISSIONS = [...SCOPES, ...PERMISSIONS_OF_PEOPLE] as const;
export type AnyPermission = Scope | PersonPermission;

/** The scopes and permissions of a role. */
export function permissionsOf(role: MemberRole): AnyPermission[] {
  return [...ROLES[role].scopes, ...ROLES[role].permissions];
}

/** The roles that may do something. */
export function rolesWith(permission: AnyPermission): MemberRole[] {
  return MEMBER_ROLES.filter((role) => permissionsOf(role).includes(permission));
}

/** Roles that need an authenticator app before they use live. */
export const TWO_FACTOR_ROLES: readonly MemberRole[] = ['owner', 'admin', 'finance'];
