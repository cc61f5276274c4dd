import { createHash } from 'node:crypto';

import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { buildMerchant } from '../support/build.ts';
import { startBackOffice, type BackOffice } from './back-office.ts';

let backOffice: BackOffice;

beforeAll(async () => {
  backOffice = await startBackOffice();
});
afterAll(() => backOffice.close());

test("a merchant's document is read byte for byte by support, under its own merchant and environment only", async () => {
  const { merchantId } = await buildMerchant(backOffice.database.db);
  const bytes = Buffer.from('%PDF-1.7 a trade licence');
  const documentId = newId('kyd');
  await rows(
    backOffice.database.db,
    `WITH application AS (
       INSERT INTO kyc_application (merchant_id, environment) VALUES (:merchantId, 'live')
     )
     INSERT INTO kyc_document (id, merchant_id, environment, submission, kind, file_name, content_type, bytes, sha256,
                               storage_key, uploaded_by, uploaded_at)
     VALUES (:documentId, :merchantId, 'live', 1, 'TRADE_LICENCE', '<script>.pdf', 'application/pdf', :size, :sha256,
             :storageKey, 'key_1', now())`,
    {
      merchantId,
      documentId,
      size: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      storageKey: await backOffice.store.save(documentId, bytes),
    },
  );
  const path = `/api/ops/merchants/${merchantId}/kyc/documents/${documentId}`;
  const live = `${path}?environment=live`;
  const answer = await backOffice.send('GET', live, { key: backOffice.people.support.key });
  expect([answer.status, answer.text]).toEqual([200, bytes.toString()]);
  expect(answer.headers.get('content-type')).toBe('application/pdf');
  expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${documentId}.pdf"`);
  expect(answer.headers.get('x-frame-options')).toBe('DENY');
  const framed = await backOffice.send('GET', `${live}&inline=true`);
  expect(framed.headers.get('content-disposition')).toBe(`inline; filename="${documentId}.pdf"`);
  expect(framed.headers.get('x-content-type-options')).toBe('nosniff');
  expect(framed.headers.get('x-frame-options')).toBe('SAMEORIGIN');
  const policy = framed.headers.get('content-security-policy');
  expect(policy).toBe("default-src 'none'; frame-ancestors 'self'; sandbox");
  expect((await backOffice.send('GET', `${path}?environment=sandbox`)).status).toBe(404);
  expect((await backOffice.send('GET', path)).body.message).toBe('environment is required');
  const other = await buildMerchant(backOffice.database.db);
  expect((await backOffice.send('GET', live.replace(merchantId, other.merchantId))).status).toBe(404);
  const listed = await backOffice.send('GET', `/api/ops/merchants/${merchantId}/kyc?environment=live`);
  expect(listed.body.data.documents).toEqual([expect.objectContaining({ documentId, kind: 'TRADE_LICENCE' })]);
});
