import { z } from 'zod';

import { nameFields } from '../../access/names.ts';
import { environment, id, reason } from '../../access/operator-schema.ts';
import { birrAmount, emailText, instant, isWebAddress, limitedText, patternText, plainText } from '../../lib/fields.ts';
import { ruleOf } from '../../lib/issues.ts';
import { normalisePhone } from '../../lib/phone.ts';
import { messageCode } from '../../lib/sandbox-reasons.ts';
import { entry, type TimelineKinds } from '../../lib/timeline.ts';
import { KYC_STATUSES } from '../operations.ts';

const BUSINESS_TYPES = [
  'SOLE_PROPRIETOR',
  'PARTNERSHIP',
  'PRIVATE_LIMITED_COMPANY',
  'SHARE_COMPANY',
  'COOPERATIVE',
  'NON_PROFIT',
  'PUBLIC_ENTERPRISE',
  'OTHER',
] as const;

/** Ethiopia's regions and chartered cities. */
const REGIONS = [
  'ADDIS_ABABA',
  'AFAR',
  'AMHARA',
  'BENISHANGUL_GUMUZ',
  'CENTRAL_ETHIOPIA',
  'DIRE_DAWA',
  'GAMBELLA',
  'HARARI',
  'OROMIA',
  'SIDAMA',
  'SOMALI',
  'SOUTH_ETHIOPIA',
  'SOUTH_WEST_ETHIOPIA',
  'TIGRAY',
] as const;

const DOCUMENT_KINDS = ['TRADE_LICENCE', 'TIN_CERTIFICATE', 'OWNER_ID', 'BANK_LETTER', 'LOGO', 'OTHER'] as const;
export type DocumentKind = (typeof DOCUMENT_KINDS)[number];

export const FILE_TYPES = ['application/pdf', 'image/png', 'image/jpeg'] as const;

const FILE_NAME_CHARACTERS_MAX = 200;

const line = (charactersMax: number) => plainText(charactersMax).trim().min(1);
const phone = limitedText(30).transform((text, ctx) => {
  const found = normalisePhone(text);
  if (found !== null) return found;
  const message = 'must be an Ethiopian mobile number as 09…, 07… or +251…';
  ctx.addIssue({ code: 'custom', message, params: ruleOf('not_a_phone') });
  return z.NEVER;
});

const fields = {
  legalName: line(200).describe('As in the trade licence'),
  tradeName: line(100).describe('The name that customers know'),
  businessType: z.enum(BUSINESS_TYPES),
  tin: patternText(10, /^\d{10}$/, {
    error: 'must be the 10 digits of a taxpayer identification number',
    code: 'not_a_tin',
  }).describe(
    'In the sandbox its last two digits decide: 13 is rejected, 14 waits for an operator, 15 needs more information.',
  ),
  tradeLicenceNumber: patternText(
    50,
    /^[A-Za-z0-9][A-Za-z0-9/. -]{2,49}$/,
    'must be 3 to 50 letters, digits, spaces or / . -',
  ),
  address: line(300).describe('Sub-city, woreda, house number'),
  region: z.enum(REGIONS),
  contactPerson: line(100),
  email: emailText(),
  website: line(500)
    .refine(isWebAddress, {
      error: 'must be an address such as https://shop.example.et, without a user name',
      params: ruleOf('not_a_web_address'),
    })
    .meta({ format: 'uri' }),
  expectedMonthlyVolume: birrAmount,
};

/** Omitted fields are cleared. */
export const Application = z.strictObject({ ...fields, phone, supportPhone: phone }).partial();
/** What a merchant declares about its business. Until it is submitted, any of it may be missing. */
export type ApplicationDetails = z.output<typeof Application>;
const PresentedApplication = z
  .object({
    ...fields,
    phone: z.string(),
    supportPhone: z.string().describe('Optional. Shown to customers on the checkout page once verified'),
  })
  .partial()
  .meta({ id: 'KycApplication' });

export const UploadQuery = z.strictObject({
  kind: z
    .enum(DOCUMENT_KINDS)
    .describe('LOGO is optional: a PNG or JPEG of at most 20,000 bytes, shown on the checkout page once verified'),
  fileName: line(FILE_NAME_CHARACTERS_MAX).optional().describe('Your name of the file, for display only'),
});

export const KycDocument = z
  .object({
    documentId: z.string(),
    kind: z.enum(DOCUMENT_KINDS),
    fileName: z.string(),
    contentType: z.enum(FILE_TYPES),
    bytes: z.int(),
    sha256: z.string(),
    submission: z.int().describe('The submission it belongs to, from 1'),
    uploadedAt: instant,
  })
  .meta({ id: 'KycDocument' });

/** The kinds of entries in the timeline of an application, with the shape of their `detail`, which operators read. */
export const TIMELINE = {
  'application.saved': entry('Details saved', { fields: z.array(z.string()) }),
  'document.uploaded': entry('Document uploaded', { documentId: z.string(), kind: z.enum(DOCUMENT_KINDS) }),
  'application.submitted': entry('Submitted, with these details and documents', {
    submission: z.int(),
    details: PresentedApplication,
    documents: z.array(z.string()),
  }),
  'review.started': entry('Under review'),
  'review.approved': entry('Verified', { tier: z.int() }),
  'review.rejected': entry('Rejected', { reason: z.string() }),
  'review.more_info_needed': entry('More information requested', { what: z.string() }),
  'tier.changed': entry('Tier changed', { tier: z.int(), reason: z.string() }),
} as const satisfies TimelineKinds;

export type TimelineKind = keyof typeof TIMELINE;

const Tier = z
  .object({
    tier: z.int().describe('0: not verified'),
    name: z.string(),
    channels: z.array(z.string()).nullable().describe('null: all'),
    paymentMax: z.number().nullable().describe('ETB per payment; null: the limit of the channel'),
    payoutDailyMax: z.number().nullable().describe('ETB per channel and day; null: the limit of the channel'),
  })
  .meta({ id: 'KycTier', description: 'Limits channels and amounts in live; not applied in the sandbox' });

export const Kyc = z
  .object({
    environment: z.enum(['sandbox', 'live']),
    status: z.enum(KYC_STATUSES),
    message: z.string().nullable().describe('Why it was rejected, or what else is needed'),
    messageCode,
    application: PresentedApplication,
    missing: z.array(z.string()).describe('What is missing for a submission'),
    documents: z.array(KycDocument),
    tier: Tier,
    submittedAt: instant.nullable(),
    decidedAt: instant.nullable(),
    liveKeys: z.object({
      work: z.boolean(),
      verificationApproved: z.boolean().describe('Of the live application, for keys of either environment'),
      sandboxPaymentMade: z.boolean(),
    }),
    timeline: z.array(
      z.object({
        at: instant,
        kind: z.enum(Object.keys(TIMELINE)),
        by: z.enum(['merchant', 'operator', 'sandbox']),
        message: z.string().optional(),
        messageCode,
        documentId: z.string().optional(),
      }),
    ),
  })
  .meta({ id: 'Kyc' });

export const DocumentParams = z.strictObject({ merchantId: id, documentId: id });
export const DocumentQuery = z.strictObject({
  environment,
  inline: z.literal('true').optional().describe('A PDF is sent for a frame of the console, in place of a file to save'),
});
export const KycReview = z.strictObject({ environment, reason: reason.optional() });
const submission = z
  .int()
  .min(0)
  .describe('The `submission` of the application that was read; rejected if the merchant has submitted again since');
const TIER_MAX = 99;
const tier = z.int().min(1).max(TIER_MAX).describe('Its number; tiers limit live channels and amounts');
export const KycApproval = z.strictObject({
  environment,
  submission,
  tier: tier.optional().describe('The full tier unless given'),
  reason: reason.optional(),
});
export const KycRejection = z.strictObject({ environment, submission, reason });
export const TierChange = z.strictObject({ environment, tier, reason });

export const OperatorApplication = z
  .object({
    merchantId: z.string(),
    environment,
    status: z.string(),
    submission: z.int().describe('The latest, from 1; decisions refer to it'),
    tier: z.int(),
    message: z.string().nullable().describe('The message to the merchant'),
    submittedAt: instant.nullable(),
    decidedBy: z.string().nullable(),
    decidedAt: instant.nullable(),
  })
  .meta({ id: 'OpsKycApplication' });

export const KYC_NAMES = ['merchantId', 'decidedBy'] as const;

export const OperatorKyc = OperatorApplication.extend({
  ...nameFields(...KYC_NAMES),
  details: z.record(z.string(), z.unknown()).describe("The merchant's details of its business"),
  documents: z.array(KycDocument),
  liveKeysWork: z.boolean(),
  timeline: z.array(
    z.object({
      at: instant,
      kind: z.string(),
      by: z.string().describe('key_…, usr_…, opr_… or "sandbox"'),
      ...nameFields('by'),
      detail: z.record(z.string(), z.unknown()),
    }),
  ),
}).meta({ id: 'OpsKyc' });
