/** The roles of a merchant's people. What each may do: access/users/roles.ts. */
export const MEMBER_ROLES = ['owner', 'admin', 'finance', 'developer', 'support', 'viewer'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** What people may do beside the scopes of keys. `-all`: not only of their own actions; `live-keys`: those of live. */
export const PERMISSIONS_OF_PEOPLE = [
  'phones:read',
  'reports:money',
  'bank:read',
  'kyc:read',
  'webhooks:resend',
  'keys:read',
  'keys:write',
  'live-keys:read',
  'live-keys:write',
  'team:read',
  'team:write',
  'owners:write',
  'security-policy:write',
  'audit:read',
  'audit:read-all',
] as const;
export type PersonPermission = (typeof PERMISSIONS_OF_PEOPLE)[number];

/**
 * What the merchant's audit log records of its keys and people: changes of keys, people, configuration, verification and the
 * bank account, money out, and what is sent again. Not recorded is what its own rows already record (payments, reports),
 * and what concerns only the person who does it. `audit` of a route names its action; test/portal/audited-routes.test.ts
 * has the reason of each route without one.
 */
export const MERCHANT_ACTIONS = [
  'key.create',
  'key.rotate',
  'key.revoke',
  'member.invite',
  'member.revoke-invitation',
  'member.join',
  'member.change-role',
  'member.remove',
  'password.change',
  'two-factor.turn-on',
  'two-factor.turn-off',
  'two-factor.renew-codes',
  'passkey.add',
  'passkey.remove',
  'channel.switch',
  'kyc.save',
  'kyc.add-document',
  'kyc.submit',
  'bank-account.link',
  'withdrawal.create',
  'withdrawal.cancel',
  'withdrawal.confirm',
  'withdrawal.decline',
  'refund.create',
  'refund.confirm',
  'refund.decline',
  'withdrawal-policy.change',
  'report-schedule.create',
  'report-schedule.change',
  'report-schedule.delete',
  'settlement.create',
  'settlement.cancel',
  'webhook.create',
  'webhook.change',
  'webhook.rotate-secret',
  'webhook.delete',
  'event.resend',
  'event.resend-many',
  'event.cancel-resend',
] as const;
export type MerchantAction = (typeof MERCHANT_ACTIONS)[number];

/** A person signed in at the portal or the console, of whatever merchants. `merchantId`: the active one; null: none. */
export type PersonCaller = {
  kind: 'person';
  userId: string;
  sessionId: string;
  audience: 'portal' | 'console';
  merchantId: string | null;
};
