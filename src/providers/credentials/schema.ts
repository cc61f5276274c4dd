import { z } from 'zod';

import { nameFields } from '../../access/names.ts';
import { id, reason } from '../../access/operator-schema.ts';
import { instant, patternText } from '../../lib/fields.ts';
import { listWith } from '../../lib/words.ts';
import { CHANNEL_NAMES, LIVE_CHANNELS, manifestOf } from '../../merchants/channels/channel.ts';
import { OVERLAP_HOURS } from './operations.ts';
import { CHECK_OUTCOMES, CREDENTIAL_STATES } from './queries.ts';

const channel = z.enum(LIVE_CHANNELS).meta({ description: 'A channel with live providers', example: LIVE_CHANNELS[0] });
const scope = { merchantId: id, channel };
const INSTANT_CHARACTERS_MAX = 40;
const FIELD_CHARACTERS_MAX = 40;

export const CredentialScope = z.strictObject(scope);
export const CredentialParams = z.strictObject({ ...scope, credentialId: id });

/** Checked by the channel's own schema, whose errors never repeat a value. */
const values = z.record(z.string().max(FIELD_CHARACTERS_MAX), z.unknown());

export const NewCredentials = z.strictObject({
  credentials: values.meta({
    description: `As the provider issued them. ${fieldsText()}. They are never returned`,
  }),
  payoutCredentials: values
    .optional()
    .meta({ description: 'The same fields of another account, where payouts are made from one' }),
  expiresAt: patternText(INSTANT_CHARACTERS_MAX, z.regexes.datetime({ offset: true }), 'must be a valid datetime')
    .transform((text) => new Date(text))
    .optional()
    .meta({
      description: 'When they expire, as stated by the provider',
      override: { type: 'string', format: 'date-time' },
    }),
  reason: reason.optional(),
});

export const CredentialActivation = z.strictObject({
  overlapHours: z.int().min(0).max(OVERLAP_HOURS.max).default(OVERLAP_HOURS.default).meta({
    description: 'How long the credentials before stay usable for orders that were sent with them',
  }),
  reason: reason.optional(),
});

export const ProviderCredentials = z
  .object({
    credentialId: z.string(),
    merchantId: z.string(),
    channel,
    state: z.enum(CREDENTIAL_STATES).meta({
      description:
        'PENDING: another operator has to activate it; RETIRING: replaced, and still used for its own orders until retiresAt',
    }),
    account: z.string().meta({ description: "The provider's name of the account: a merchant code or till" }),
    payoutAccount: z.string().nullable().meta({ description: 'null: payouts are made from the same account' }),
    identifiers: z.record(z.string(), z.record(z.string(), z.string())).meta({
      description: `To compare with what the provider issued, by credentials and payoutCredentials: ids, of ${shortenedText()} the last four characters, and as publicKey the first 16 hexadecimal digits of the SHA-256 of the public key (DER)`,
    }),
    checkedAt: instant.nullable().meta({ description: 'When they were last checked with the provider; null: never' }),
    checkOutcome: z.enum(CHECK_OUTCOMES).nullable().meta({ description: 'Only with OK they can be activated' }),
    expiresAt: instant.nullable(),
    createdBy: z.string(),
    createdAt: instant,
    confirmedBy: z.string().nullable(),
    activeFrom: instant.nullable(),
    retiresAt: instant.nullable(),
    revokedBy: z.string().nullable(),
    revokedAt: instant.nullable(),
  })
  .meta({ id: 'OpsProviderCredentials' });
/** Whose ids a set of credentials has. */
export const CREDENTIAL_NAMES = ['createdBy', 'confirmedBy', 'revokedBy'] as const;
export const ListedCredentials = ProviderCredentials.extend(nameFields(...CREDENTIAL_NAMES)).meta({
  id: 'OpsListedProviderCredentials',
});

/** The fields of credentials, by the channels that have them. */
function fieldsText(): string {
  const channelsBy = new Map<string, string[]>();
  for (const one of LIVE_CHANNELS) {
    const credentials = Object.entries(manifestOf(one).credentials);
    const fields = credentials
      .map(([field, { kind }]) => (kind === 'privateKey' ? `${field} (PEM)` : field))
      .join(', ');
    channelsBy.set(fields, [...(channelsBy.get(fields) ?? []), one]);
  }
  return [...channelsBy].map(([fields, channels]) => `${listWith('and', channels)}: ${fields}`).join('. ');
}

/** The fields of which only the end is shown, by provider. */
function shortenedText(): string {
  const shortened = LIVE_CHANNELS.flatMap((one) => {
    const fields = Object.entries(manifestOf(one).credentials).flatMap(([field, setting]) =>
      setting.kind === 'text' && setting.shown === 'end' ? [field] : [],
    );
    return fields.length > 0 ? [`${CHANNEL_NAMES[one]}'s ${listWith('and', fields.toSorted())}`] : [];
  });
  return listWith('and', shortened);
}
