import { z } from 'zod';

import { LANGUAGES } from '../http/language.ts';
import { OPERATOR_ROLES, SCOPES } from '../http/route.ts';
import { emailText, instant, plainText } from '../lib/fields.ts';
import { dateParam, pageQuery, statusParam } from '../lib/pagination.ts';
import { OPERATOR_KEY_DAYS, ROTATION_OVERLAP_HOURS } from './api-keys.ts';
import { nameFields } from './names.ts';
import { ACTIONS } from './permissions.ts';
import { CALENDARS, CLOCKS } from './users/users.ts';

const ID_CHARACTERS_MAX = 64;
const NAME_CHARACTERS_MAX = 100;
const REASON_CHARACTERS_MAX = 500;
const TOKEN_CHARACTERS_MAX = 100;
const PROVIDER_REFERENCE_CHARACTERS_MAX = 100;

export const id = plainText(ID_CHARACTERS_MAX).min(1);
export const name = plainText(NAME_CHARACTERS_MAX).trim().min(1).meta({ description: 'On one line' });
export const environment = z.enum(['sandbox', 'live']);
export const reason = plainText(REASON_CHARACTERS_MAX).trim().min(1).meta({ description: 'Recorded in the audit log' });

/** A provider's reference that an operator has found out. */
export const providerReference = plainText(PROVIDER_REFERENCE_CHARACTERS_MAX).trim().min(1);

export const Reason = z.strictObject({ reason });
export const OptionalReason = z.strictObject({ reason: reason.optional() });
export const MerchantParams = z.strictObject({ merchantId: id });
export const InEnvironment = z.strictObject({ environment });

/** The query of a list of what all merchants have requested. */
export const requestListQuery = {
  merchantId: id.optional(),
  environment: environment.optional(),
  startDate: dateParam.optional(),
  endDate: dateParam.optional(),
  ...pageQuery,
};

export const links = z
  .record(z.string(), z.string())
  .meta({ description: 'The commands that its state allows: paths of this API by verb' });

export const temporalUrl = z
  .string()
  .nullable()
  .meta({ description: 'Its workflow in the Temporal UI; null without one, or without TEMPORAL_UI_URL' });

export const timeline = z.array(z.object({ at: instant, kind: z.string(), detail: z.record(z.string(), z.unknown()) }));

const keyFields = {
  keyId: z.string(),
  key: z.string().meta({ description: 'Its first and last characters', example: 'sk_test_…aB3x' }),
  name: z.string(),
  expiresAt: instant.nullable(),
  revokedAt: instant.nullable(),
  lastUsedAt: instant.nullable(),
  createdAt: instant,
};

export const MerchantKey = z
  .object({
    ...keyFields,
    environment,
    kind: z.enum(['secret', 'restricted']),
    scopes: z.array(z.enum(SCOPES)),
    ipRanges: z.array(z.string()),
    rotatedTo: z.string().nullable(),
    createdBy: z.string().nullable().meta({
      description:
        'The operator who invited the merchant to create it, and who cannot approve what it requests in live; null: not created through an invitation',
    }),
  })
  .meta({ id: 'OpsMerchantKey' });

export const OperatorKey = z
  .object({ ...keyFields, key: z.string().meta({ example: 'ok_…aB3x' }), operatorId: z.string() })
  .meta({ id: 'OperatorKey' });

const resourceType = z.enum([
  'merchant',
  'key',
  'channel',
  'maintenance',
  'providerCredentials',
  'withdrawal',
  'refund',
  'settlement',
  'bankAccount',
  'kyc',
  'reconciliation',
  'discrepancy',
  'receipt',
  'transaction',
  'delivery',
  'resendJob',
  'holiday',
  'operator',
  'operatorKey',
  'invitation',
  'proposal',
]);
const changed = z.record(z.string(), z.unknown()).nullable();

export const AuditEntry = z
  .object({
    auditId: z.string(),
    operatorId: z.string(),
    operatorName: z.string(),
    proposedBy: z.string().nullable().meta({ description: 'The operator who proposed what this one confirmed' }),
    proposedByName: z.string().nullable(),
    action: z.enum(ACTIONS),
    resourceType,
    resourceId: z.string(),
    merchantId: z.string().nullable(),
    merchantName: z.string().nullable(),
    environment: environment.nullable(),
    before: changed.meta({ description: 'The fields that differ, before the change' }),
    after: changed.meta({ description: 'The fields that differ, after the change' }),
    reason: z.string().nullable(),
    requestId: z.string(),
    at: instant,
  })
  .meta({ id: 'OpsAuditEntry' });

export const AuditQuery = z.strictObject({
  ...requestListQuery,
  operatorId: id.optional(),
  action: z.enum(ACTIONS).optional(),
  resourceId: id.optional(),
});

const PROPOSAL_STATUSES = ['PENDING', 'CONFIRMED', 'REJECTED', 'WITHDRAWN', 'EXPIRED'] as const;
export const ProposalListQuery = z.strictObject({ status: statusParam(PROPOSAL_STATUSES).optional(), ...pageQuery });
export const ProposalParams = z.strictObject({ proposalId: id });
export const Proposal = z
  .object({
    proposalId: z.string(),
    action: z.enum(ACTIONS),
    resourceType,
    resourceId: z.string().nullable().meta({ description: 'null: created by the confirmation' }),
    merchantId: z.string().nullable(),
    environment: environment.nullable(),
    before: changed.meta({ description: 'The fields that differ. If they change, the proposal cannot be confirmed' }),
    after: changed,
    reason: z.string().nullable(),
    status: z.enum(PROPOSAL_STATUSES),
    proposedBy: z.string(),
    proposedAt: instant,
    expiresAt: instant,
    decidedBy: z.string().nullable(),
    decidedAt: instant.nullable(),
    decisionReason: z.string().nullable(),
  })
  .meta({ id: 'Proposal' });
export const PROPOSAL_NAMES = ['merchantId', 'proposedBy', 'decidedBy'] as const;
export const NamedProposal = Proposal.extend(nameFields(...PROPOSAL_NAMES)).meta({ id: 'NamedProposal' });

export const NewOperator = z.strictObject({ name, email: emailText(), role: z.enum(OPERATOR_ROLES) });
export const OperatorChanges = z.strictObject({
  role: z.enum(OPERATOR_ROLES).optional(),
  active: z.boolean().optional(),
  reason: reason.optional(),
});
export const OperatorParams = z.strictObject({ operatorId: id });
export const Operator = z
  .object({
    operatorId: z.string(),
    name: z.string(),
    email: z.string(),
    role: z.enum(OPERATOR_ROLES),
    active: z.boolean(),
    createdAt: instant,
  })
  .meta({ id: 'Operator' });

export const OperatorKeyParams = z.strictObject({ operatorId: id, keyId: id });
export const OwnKeyParams = z.strictObject({ keyId: id });
const days = z
  .int()
  .min(1)
  .max(OPERATOR_KEY_DAYS.max)
  .optional()
  .meta({ description: `Its lifetime in days; ${OPERATOR_KEY_DAYS.default} unless given` });
export const NewOperatorKey = z.strictObject({ name: plainText(NAME_CHARACTERS_MAX).optional(), days });
export const overlapHours = z
  .int()
  .min(0)
  .max(ROTATION_OVERLAP_HOURS.max)
  .optional()
  .meta({ description: `How long the old key stays valid; ${ROTATION_OVERLAP_HOURS.default} hours unless given` });
export const OperatorKeyRotation = z.strictObject({ overlapHours, days });
export const secret = z.string().meta({ description: 'The key itself. Returned once' });
export const CreatedOperatorKey = OperatorKey.extend({ secret }).meta({ id: 'OpsMadeOperatorKey' });

export const Invitation = z
  .object({
    invitationId: z.string(),
    token: z.string().meta({ description: 'For POST /api/invitations/accept, once. Returned once' }),
    expiresAt: instant,
  })
  .meta({ id: 'Invitation' });
export const InvitationParams = z.strictObject({ invitationId: id });
export const InvitationListQuery = z.strictObject({ merchantId: id.optional(), operatorId: id.optional() });
export const INVITATION_NAMES = ['operatorId', 'merchantId', 'createdBy'] as const;
/** An invitation that can still be accepted, without its token. */
export const PendingInvitation = z
  .object({
    invitationId: z.string(),
    purpose: z.enum(['operator-key', 'key', 'rotation', 'owner']).meta({
      description: "An operator's first key; a merchant's new key; the successor of one; an owner of its portal",
    }),
    operatorId: z.string().nullable(),
    merchantId: z.string().nullable(),
    environment: environment.nullable(),
    email: z.string().nullable().meta({ description: 'Of an owner' }),
    keyId: z.string().nullable().meta({ description: 'The key to rotate' }),
    createdBy: z.string(),
    createdAt: instant,
    expiresAt: instant,
    ...nameFields(...INVITATION_NAMES),
  })
  .meta({ id: 'PendingInvitation' });
export const RevokedInvitation = z
  .object({ invitationId: z.string(), revokedAt: instant })
  .meta({ id: 'RevokedInvitation' });

export const OperatorMe = z
  .object({
    operatorId: z.string(),
    role: z.enum(OPERATOR_ROLES),
    user: z.object({
      name: z.string(),
      email: z.string(),
      language: z.enum(LANGUAGES),
      calendar: z.enum(CALENDARS),
      clock: z.enum(CLOCKS),
    }),
    permissions: z.array(z.enum(ACTIONS)).describe('What the role may do'),
    denied: z
      .array(z.object({ permission: z.enum(ACTIONS), roles: z.array(z.enum(OPERATOR_ROLES)).describe('Whom to ask') }))
      .describe('What the role may not do'),
    stepUp: z.array(z.enum(ACTIONS)).describe('What needs a code of the last 5 minutes at the console'),
    session: z
      .object({
        sessionId: z.string(),
        idleUntil: instant.describe('When it ends unless it is used'),
        expiresAt: instant,
        stepUpUntil: instant.nullable().describe('null: no code was entered in the last 5 minutes'),
      })
      .nullable()
      .describe('Of the console; null for a key'),
  })
  .meta({ id: 'OperatorMe' });
export const InvitedOperator = Operator.extend({ invitation: Invitation }).meta({ id: 'InvitedOperator' });
export const InvitationAcceptance = z.strictObject({ token: plainText(TOKEN_CHARACTERS_MAX).min(1) });
export const AcceptedInvitation = z
  .object({
    keyId: z.string(),
    operatorId: z.string().nullable(),
    merchantId: z.string().nullable(),
    environment: environment.nullable(),
    expiresAt: instant.nullable(),
    secret,
  })
  .meta({ id: 'AcceptedInvitation' });
