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
