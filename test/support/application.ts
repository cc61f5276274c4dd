import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { submitApplication } from '../../src/merchants/kyc/application.ts';
import { APPLICATION } from '../merchants/kyc/fixture.ts';
import type { Fixture } from './build.ts';

type Submitter = { actor?: string | undefined; at?: Date | undefined };

/** Fills in a merchant's application, with the rows of its documents, and submits it. */
export async function submitFilledIn(
  { db, clock, runInTransaction }: Fixture,
  scope: MerchantScope,
  { actor = 'key_1', at = clock() }: Submitter = {},
): Promise<void> {
  await rows(
    db,
    `WITH application AS (
       INSERT INTO kyc_application (merchant_id, environment, details)
       VALUES (:merchantId, :environment, CAST(:details AS jsonb))
     )
     INSERT INTO kyc_document (id, merchant_id, environment, submission, kind, file_name, content_type, bytes, sha256,
                               storage_key, uploaded_by, uploaded_at)
     SELECT 'kyd_' || :merchantId || :environment || kind, :merchantId, :environment, 1, kind, 'a.pdf',
            'application/pdf', 1, repeat('0', 64), md5(:merchantId || :environment || kind), 'key_1', now()
     FROM unnest(ARRAY['TRADE_LICENCE', 'TIN_CERTIFICATE', 'OWNER_ID']) AS kind`,
    { ...scope, details: JSON.stringify(APPLICATION) },
  );
  await runInTransaction((tx) => submitApplication(tx, { ...scope, actor, at }));
}
