import { z } from 'zod';

import { instant } from '../lib/fields.ts';
import { environment as oneEnvironment, id, reason } from './schema.ts';

const environment = oneEnvironment.meta({
  description: 'Which application is meant: live, or the rehearsal in the sandbox',
});

export const KycQuery = z.strictObject({ environment });
export const DocumentParams = z.strictObject({ merchantId: id, documentId: id });
export const KycReview = z.strictObject({ environment, reason: reason.optional() });
const submission = z
  .int()
  .min(0)
  .meta({ description: 'Which one was read, as `submission` of the application; refused once there is a later one' });
export const KycApproval = z.strictObject({
  environment,
  submission,
  tier: z.int().min(1).max(99).optional().meta({ description: 'Which limits apply; the full ones unless said' }),
  reason: reason.optional(),
});
export const KycRejection = z.strictObject({ environment, submission, reason });

/** An application as it stands. */
export const Application = z
  .object({
    merchantId: z.string(),
    environment: oneEnvironment,
    status: z.string(),
    submission: z.int().meta({ description: 'The latest, from 1; a decision names it' }),
    tier: z.int(),
    message: z.string().nullable().meta({ description: 'What the merchant was told' }),
    submittedAt: instant.nullable(),
    decidedBy: z.string().nullable(),
    decidedAt: instant.nullable(),
  })
  .meta({ id: 'OpsKycApplication' });

export const Kyc = Application.extend({
  details: z.record(z.string(), z.unknown()).meta({ description: 'What the merchant filled in' }),
  documents: z.array(
    z.object({
      documentId: z.string(),
      kind: z.string(),
      fileName: z.string(),
      contentType: z.string(),
      bytes: z.int(),
      sha256: z.string(),
      submission: z.int(),
      uploadedAt: instant,
    }),
  ),
  liveKeysWork: z.boolean(),
  timeline: z.array(
    z.object({ at: instant, kind: z.string(), by: z.string(), detail: z.record(z.string(), z.unknown()) }),
  ),
}).meta({ id: 'OpsKyc' });
