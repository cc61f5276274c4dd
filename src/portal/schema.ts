import { z } from 'zod';

import { MerchantKey, Reason } from '../access/operator-schema.ts';
import { CALENDARS, CLOCKS } from '../access/users/users.ts';
import { LANGUAGES } from '../http/language.ts';
import { MEMBER_ROLES, MERCHANT_ACTIONS } from '../http/people.ts';
import { birrAmount, plainText, emailText, instant, mustBe, patternText } from '../lib/fields.ts';
import { ruleOf } from '../lib/issues.ts';
import { dateParam, pageQuery } from '../lib/pagination.ts';
import { InvitedMerchantKey, Member } from '../merchants/schema.ts';
import { MIN_AGE_MINUTES_MAX } from '../payments/transaction-schema.ts';

const Role = z.enum(MEMBER_ROLES);

const id = z.string().min(1).max(64);
const nameOf = (charactersMax: number) =>
  plainText(charactersMax).refine((text) => text.trim() !== '', {
    error: 'must not be blank',
    params: ruleOf('required'),
  });

const language = z.enum(LANGUAGES);
const calendar = z.enum(CALENDARS);
const clock = z.enum(CLOCKS).describe('ethiopian counts from 06:00 and from 18:00');

/** Who is signed in, in which merchant, and what the role may do there. */
export const Me = z
  .object({
    user: z.object({
      userId: z.string(),
      email: z.string(),
      name: z.string(),
      language,
      calendar,
      clock,
    }),
    merchant: z
      .object({
        merchantId: z.string(),
        name: z.string(),
        status: z.enum(['ACTIVE', 'SUSPENDED']),
        kycStatus: z.string().describe('Of the live application'),
        liveEnabled: z.boolean(),
        liveReason: z.string().nullable().describe('What is missing before live can be used; null: nothing'),
      })
      .nullable()
      .describe('The active one; null for a member of no merchant'),
    mailCount: z
      .int()
      .optional()
      .describe('Mails that were not sent, of a local installation, which shows them at /dev/mail'),
    memberships: z.array(z.object({ merchantId: z.string(), name: z.string(), role: Role })),
    role: Role.nullable(),
    permissions: z.array(z.string()).describe('The scopes and permissions of the role'),
    denied: z
      .array(z.object({ permission: z.string(), roles: z.array(Role).describe('Whom to ask') }))
      .describe('What the role may not do'),
    apiUrl: z.string().describe('Where keys call the API, without a slash at its end'),
    twoFactor: z.object({
      enabled: z.boolean(),
      requiredForLive: z.boolean(),
      stepUpUntil: instant.nullable().describe('Until when no other code is needed; null: a code is needed'),
    }),
  })
  .meta({ id: 'Me' });

export const Switch = z.strictObject({ merchantId: id });

const password = z.string().min(1).max(256);

export const Security = z.object({
  twoFactorSince: instant.nullable().describe('null: two-factor authentication is off'),
  recoveryCodesLeft: z.int(),
});

export const CurrentPassword = z.strictObject({ currentPassword: password });
export const PasswordChange = CurrentPassword.extend({ newPassword: password });

export const Profile = z.strictObject({
  name: nameOf(100).optional(),
  language: language.optional(),
  calendar: calendar.optional(),
  clock: clock.optional(),
});

export const Code = z.strictObject({
  code: z.string().min(6).max(40).describe('Six digits of the authenticator app, or a recovery code'),
});

export const NewTwoFactor = z.object({
  secret: z.string().describe('In base32, to type into the app'),
  uri: z.string().describe('otpauth://…, to show as a QR code'),
});

export const RecoveryCodes = z.object({ recoveryCodes: z.array(z.string()) });

export const PersonSession = z.object({
  sessionId: z.string(),
  current: z.boolean().describe('Whether it is the one of this request'),
  audience: z.enum(['portal', 'console']).describe('Where it is valid'),
  address: z.string(),
  device: z.string().describe('User-Agent of the sign-in'),
  createdAt: instant,
  lastUsedAt: instant.describe('To the minute'),
  expiresAt: instant,
});

const base64url = (charactersMax: number) =>
  patternText(charactersMax, /^[A-Za-z0-9_-]+$/, `must be base64url of at most ${charactersMax} characters`);
const credentialId = base64url(1_364).describe('Of the credential, as the browser returned it');

export const Passkey = z.object({
  passkeyId: z.string(),
  name: z.string(),
  createdAt: instant,
  lastUsedAt: instant.nullable(),
});

export const PasskeyParams = z.strictObject({ passkeyId: id });

export const PasskeyOptions = z
  .record(z.string(), z.unknown())
  .describe('For `PublicKeyCredential.parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON` of a browser');

const TRANSPORTS_MAX = 8;

export const NewPasskey = z.strictObject({
  name: nameOf(60),
  id: credentialId,
  clientDataJSON: base64url(2_048),
  attestationObject: base64url(16_384),
  transports: z.array(z.string().max(32)).max(TRANSPORTS_MAX),
});

export const PasskeySignature = z.strictObject({
  id: credentialId,
  clientDataJSON: base64url(2_048),
  authenticatorData: base64url(2_048),
  signature: base64url(1_024),
});

export const SessionParams = z.strictObject({ sessionId: id });

export const MemberInvitation = z.object({
  invitationId: z.string(),
  email: z.string(),
  role: Role,
  createdBy: z.string().describe('usr_…, or opr_… of an operator'),
  createdAt: instant,
  expiresAt: instant,
});

export const Team = z.object({ members: z.array(Member), invitations: z.array(MemberInvitation) });

export const NewOwner = Reason.extend({ email: emailText() });

export const NewMember = z.strictObject({ email: emailText(), role: Role });
export const MemberChange = z.strictObject({ role: Role });
export const MemberParams = z.strictObject({ userId: id });
export const InvitationParams = z.strictObject({ invitationId: id });

export const NewKey = InvitedMerchantKey.omit({ environment: true });
export const KeyParams = z.strictObject({ keyId: id });
export const PersonsKey = MerchantKey.omit({ createdBy: true });
export const CreatedKey = PersonsKey.extend({ secret: z.string().describe('Returned once') });

const changed = z.record(z.string(), z.unknown()).nullable();

export const MerchantAuditEntry = z.object({
  auditId: z.string(),
  environment: z.enum(['sandbox', 'live']).nullable().describe('null: the change is of both'),
  actor: z.string().describe('usr_… or key_…'),
  actorName: z.string().nullable(),
  action: z.enum(MERCHANT_ACTIONS),
  resourceId: z.string().nullable(),
  before: changed.describe('The fields that differ, before the change'),
  after: changed,
  address: z.string().describe('IP address of the request'),
  requestId: z.string(),
  at: instant,
});

const auditedId = patternText(64, /^[\w-]{1,64}$/, mustBe('an id: letters, digits, - and _'));

export const MerchantAuditFilterQuery = z.strictObject({
  startDate: dateParam.optional(),
  endDate: dateParam.optional(),
  actor: auditedId.optional(),
  action: z.enum(MERCHANT_ACTIONS).optional(),
  resourceId: auditedId.optional(),
  requestId: auditedId.optional(),
});
export const MerchantAuditQuery = MerchantAuditFilterQuery.extend(pageQuery);
/** `secondPersonFrom` null: no withdrawal needs a second person. */
export const WithdrawalPolicy = z.strictObject({ secondPersonFrom: birrAmount.nullable().describe('ETB; null: off') });
export const OwnRequests = z.object({
  ids: z.array(z.string()).describe('wd_… and rfd_…, the newest of each'),
});
export const Decline = z.strictObject({ reason: plainText(200).trim().min(1).describe('In the timeline') });

const part = z.string().max(100).optional();
/** The parameters of the list's page that a view keeps: the page reads them as it reads its address. */
const ViewFilter = z.strictObject({
  range: part,
  startDate: part,
  endDate: part,
  status: part,
  transactionThrough: part,
  type: part,
  minAmount: part,
  maxAmount: part,
  search: part,
  held: part,
  minAgeMinutes: z.int().min(1).max(MIN_AGE_MINUTES_MAX).optional(),
  sort: part,
});

export const SavedView = z.object({
  viewId: z.string(),
  name: z.string(),
  filter: ViewFilter.describe('As in the address of the list'),
  shared: z.boolean().describe('Whether every member of the merchant sees it'),
  own: z.boolean().describe('Whether it is yours, to change and delete'),
  ownerName: z.string(),
});
export const NewView = z.strictObject({ name: nameOf(60), filter: ViewFilter, shared: z.boolean().optional() });
export const ViewChange = NewView.partial();
export const ViewParams = z.strictObject({ viewId: id });
