import { PAGE, type Noun, type OptionUse, type Verb } from './verb.ts';

const MERCHANT = '/api/ops/merchants/:merchantId';
const KEYS = `${MERCHANT}/keys` as const;
const KYC = `${MERCHANT}/kyc` as const;
const BANK_ACCOUNT = `${MERCHANT}/bank-account` as const;
const HOLIDAY = '/api/ops/holidays/:holidayId';
const OPERATOR = '/api/ops/operators/:operatorId';
const PROPOSAL = '/api/ops/proposals/:proposalId';

const kyc = (about: string, verb: string, options: readonly OptionUse[]): Verb => ({
  about,
  call: `POST ${KYC}/${verb}`,
  options: ['environment', ...options],
});
const holiday = (about: string, body: Verb['body'], options: readonly OptionUse[] = []): Verb => ({
  about,
  call: `PATCH ${HOLIDAY}`,
  body,
  options: [...options, 'reason'],
});
const operator = (about: string, body: Verb['body'], options: readonly OptionUse[] = []): Verb => ({
  about,
  call: `PATCH ${OPERATOR}`,
  body,
  options: [...options, 'reason'],
});

/** The nouns of merchants, operators and what they may do. */
export const ADMINISTRATION_NOUNS: Readonly<Record<string, Noun>> = {
  merchants: {
    about: 'Merchants',
    verbs: {
      list: {
        about: 'List merchants, newest first',
        call: 'GET /api/ops/merchants',
        options: ['status', 'kycStatus', 'search', ...PAGE],
        columns: ['createdAt', 'merchantId', 'status', 'kycStatus', 'name'],
      },
      get: { about: 'Show a merchant with its balance and channels', call: `GET ${MERCHANT}` },
      create: {
        about: 'Create a merchant with every available channel in the sandbox',
        call: 'POST /api/ops/merchants',
        options: ['name!'],
      },
      suspend: {
        about: 'Suspend a merchant: its keys are rejected, its pages take no payments',
        call: `POST ${MERCHANT}/suspend`,
        options: ['reason!'],
        confirm: true,
      },
      resume: {
        about: 'Resume a suspended merchant, and its approved withdrawals',
        call: `POST ${MERCHANT}/resume`,
        options: ['reason!'],
        confirm: true,
      },
    },
  },
  keys: {
    about: "Merchants' API keys",
    verbs: {
      list: {
        about: 'List keys, newest first',
        call: 'GET /api/ops/merchant-keys',
        options: ['environment?', 'merchantId', ...PAGE],
        columns: [
          'createdAt',
          'keyId',
          'merchantId',
          'environment',
          'key',
          'expiresAt',
          'revokedAt',
          'lastUsedAt',
          'name',
        ],
      },
      invite: {
        about: 'Invite a merchant to create a key; the token is printed once',
        call: `POST ${MERCHANT}/key-invitations`,
        options: ['environment', 'name', 'scopes', 'ipRanges', 'days'],
      },
      rotate: {
        about: 'Invite a merchant to rotate a key; the token is printed once',
        call: `POST ${KEYS}/:keyId/rotate`,
        resource: KEYS,
        options: ['overlapHours'],
      },
      revoke: { about: 'Revoke a key', call: `POST ${KEYS}/:keyId/revoke`, resource: KEYS, options: ['reason!'] },
    },
  },
  invitations: {
    about: 'Invitations to create a key, of merchants and operators',
    verbs: {
      revoke: {
        about: 'Revoke an invitation that was not accepted',
        call: 'POST /api/ops/invitations/:invitationId/revoke',
        options: ['reason!'],
        confirm: true,
      },
    },
  },
  channels: {
    about: 'Which channels a merchant may use',
    verbs: {
      approve: {
        about: 'Approve a channel for a merchant',
        call: `POST ${MERCHANT}/channels/:channel/approve`,
        options: ['environment', 'reason'],
      },
      suspend: {
        about: 'Suspend a channel for a merchant: no new payments',
        call: `POST ${MERCHANT}/channels/:channel/suspend`,
        options: ['environment', 'reason!'],
      },
    },
  },
  kyc: {
    about: 'The verification of merchants',
    verbs: {
      get: { about: 'Show an application with its documents', call: `GET ${KYC}`, options: ['environment'] },
      'get-document': {
        about: 'Write a document to standard output',
        call: `GET ${KYC}/documents/:documentId`,
        options: ['environment'],
      },
      review: kyc('Start the review of an application', 'review', ['reason']),
      approve: kyc('Verify the merchant', 'approve', ['submission!', 'tier', 'reason']),
      reject: kyc('Reject an application; the merchant sees the reason', 'reject', ['submission!', 'reason!']),
      'request-info': kyc('Request more information from the merchant', 'request-info', ['submission!', 'reason!']),
      'change-tier': {
        about: "Change a verified merchant's tier",
        call: `PUT ${KYC}/tier`,
        options: ['environment', 'tier!', 'reason!'],
      },
    },
  },
  'bank-accounts': {
    about: 'Bank accounts that merchants have linked',
    verbs: {
      get: { about: 'Show the linked bank account', call: `GET ${BANK_ACCOUNT}`, options: ['environment'] },
      verify: {
        about: "Verify that a bank account is the merchant's",
        call: `POST ${BANK_ACCOUNT}/verify`,
        options: ['environment', 'bankAccountId!', 'reason'],
      },
      reject: {
        about: 'Reject a bank account; no settlement goes to it',
        call: `POST ${BANK_ACCOUNT}/reject`,
        options: ['environment', 'bankAccountId!', 'reason!'],
      },
    },
  },
  holidays: {
    about: 'Days without bank business',
    verbs: {
      list: {
        about: 'List holidays, earliest first',
        call: 'GET /api/ops/holidays',
        options: ['startDate', 'endDate'],
        columns: ['date', 'holidayId', 'kind', 'confirmed', 'active', 'name'],
      },
      add: {
        about: 'Add a holiday; of the kind closed unless given',
        call: 'POST /api/ops/holidays',
        body: { kind: 'closed' },
        options: ['date!', 'name!', 'nameAm', 'kind', 'reason'],
      },
      reschedule: holiday('Reschedule a holiday', {}, ['date!']),
      enable: holiday('Enable a holiday', { active: true }),
      disable: holiday('Disable a holiday', { active: false }),
      confirm: holiday('Confirm the date of a holiday', { confirmed: true }),
      remove: {
        about: 'Remove a holiday that was added; a computed one is disabled instead',
        call: `DELETE ${HOLIDAY}`,
        options: ['reason'],
        confirm: true,
      },
    },
  },
  operators: {
    about: 'Operators and their keys',
    verbs: {
      list: {
        about: 'List operators, newest first',
        call: 'GET /api/ops/operators',
        columns: ['createdAt', 'operatorId', 'role', 'active', 'email', 'name'],
      },
      create: {
        about: 'Create an operator; the token of their invitation is printed once',
        call: 'POST /api/ops/operators',
        options: ['name!', 'email!', 'role!'],
        admin: 'On the server, while there is no active admin: create one, with a key that is printed once',
      },
      'change-role': operator("Change an operator's role", {}, ['role!']),
      activate: operator('Reactivate an operator', { active: true }),
      deactivate: operator('Deactivate an operator', { active: false }),
      'list-keys': {
        about: "List an operator's keys, newest first",
        call: `GET ${OPERATOR}/keys`,
        columns: ['createdAt', 'keyId', 'key', 'expiresAt', 'revokedAt', 'lastUsedAt', 'name'],
      },
      invite: {
        about: 'Invite an operator again, who has lost the key; the token is printed once',
        call: `POST ${OPERATOR}/invitations`,
      },
      'revoke-key': {
        about: "Revoke an operator's key",
        call: `POST ${OPERATOR}/keys/:keyId/revoke`,
        options: ['reason!'],
        confirm: true,
      },
    },
  },
  'own-keys': {
    about: 'Your own keys as an operator',
    verbs: {
      list: {
        about: 'List your keys, newest first',
        call: 'GET /api/ops/keys',
        columns: ['createdAt', 'keyId', 'key', 'expiresAt', 'revokedAt', 'lastUsedAt', 'name'],
      },
      create: {
        about: 'Create another key; its secret is printed once',
        call: 'POST /api/ops/keys',
        options: ['name', 'days'],
      },
      rotate: {
        about: 'Create the successor of a key; its secret is printed once',
        call: 'POST /api/ops/keys/:keyId/rotate',
        options: ['overlapHours', 'days'],
        confirm: true,
      },
      revoke: {
        about: 'Revoke a key of yours',
        call: 'POST /api/ops/keys/:keyId/revoke',
        options: ['reason!'],
        confirm: true,
      },
    },
  },
  proposals: {
    about: 'Changes that one operator proposes and another confirms',
    verbs: {
      list: {
        about: 'List proposals, newest first',
        call: 'GET /api/ops/proposals',
        options: ['status', ...PAGE],
        columns: ['proposedAt', 'proposalId', 'action', 'resourceId', 'status', 'reason'],
      },
      get: { about: 'Show a proposal with the fields that it changes', call: `GET ${PROPOSAL}` },
      confirm: { about: 'Confirm a proposal of another operator', call: `POST ${PROPOSAL}/confirm`, confirm: true },
      reject: { about: 'Reject a proposal of another operator', call: `POST ${PROPOSAL}/reject`, options: ['reason!'] },
      withdraw: { about: 'Withdraw a proposal of yours', call: `POST ${PROPOSAL}/withdraw` },
    },
  },
  audit: {
    about: 'What operators have changed',
    verbs: {
      list: {
        about: 'List changes, newest first',
        call: 'GET /api/ops/audit',
        options: ['environment?', 'merchantId', 'operatorId', 'action', 'resourceId', 'startDate', 'endDate', ...PAGE],
        columns: ['at', 'operatorName', 'action', 'resourceId', 'reason'],
      },
    },
  },
};
