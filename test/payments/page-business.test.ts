import { rm } from 'node:fs/promises';

import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { saveApplication } from '../../src/merchants/kyc/application.ts';
import { addDocument, storeDocument } from '../../src/merchants/kyc/documents.ts';
import { createDocumentStore } from '../../src/merchants/kyc/store.ts';
import { buildFixture, buildMerchant, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { KEY_RING } from '../support/key-ring.ts';
import { servePages, type Pages } from './pages.ts';

const FOLDER = `${import.meta.dirname}/../../.data/test-logos-${process.pid}`;
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);

let database: TestDatabase;
let fixture: Fixture;
let pages: Pages;

beforeAll(async () => {
  database = await createTestDatabase();
  fixture = { ...buildFixture(database.db), store: createDocumentStore(FOLDER, KEY_RING) };
  pages = await servePages(fixture);
});
afterAll(async () => {
  await pages.close();
  await database.drop();
  await rm(FOLDER, { recursive: true, force: true });
});

/** A merchant with a filled-in application and a logo. */
async function buildApplicant(): Promise<MerchantScope> {
  const scope = await buildMerchant(database.db);
  const step = { ...scope, actor: 'key_1', at: fixture.clock() };
  const logo = { kind: 'LOGO', fileName: 'logo.png', contentType: 'image/png', bytes: PNG } as const;
  await fixture.runInTransaction(async (tx) => {
    await saveApplication(tx, step, { legalName: 'Abyssinia <Coffee> PLC', supportPhone: '251911223344' });
    await addDocument(tx, step, { ...logo, stored: await storeDocument(fixture.store, logo) });
  });
  return scope;
}

const approve = (scope: MerchantScope) =>
  rows(database.db, `UPDATE kyc_application SET status = 'APPROVED', tier = 2 WHERE merchant_id = :merchantId`, scope);

test('an application that is not approved shows nothing on the page', async () => {
  const page = await pages.open(await buildApplicant());
  const text = await page.text();
  expect(text).toContain('<p>Payment by Meskot</p>');
  for (const part of ['PLC', '251911223344', '/logo']) expect(text).not.toContain(part);
  expect((await page.get('/logo')).status).toBe(404);
});

test('once it is approved the page shows legal name, support line and logo', async () => {
  const scope = await buildApplicant();
  await approve(scope);
  const page = await pages.open(scope);
  const text = await page.text();
  expect(text).toContain('Payment by Meskot for Abyssinia &#60;Coffee&#62; PLC');
  expect(text).toContain('<a href="tel:+251911223344">+251911223344</a>');
  expect(text).toContain(`<img src="${page.path}/logo"`);
  const logo = await page.get('/logo');
  expect([logo.status, logo.headers.get('content-type')]).toEqual([200, 'image/png']);
  expect(Buffer.from(await logo.arrayBuffer())).toEqual(PNG);
});

test("another visitor does not get the logo of a session's shop", async () => {
  const scope = await buildApplicant();
  await approve(scope);
  const [page, other] = [await pages.open(scope), await pages.open(await buildApplicant())];
  expect((await page.get('/logo', { cookie: other.cookie })).status).toBe(404);
});

test.each([
  ['a PDF', { contentType: 'application/pdf', bytes: Buffer.from('%PDF-1.7') }, 'UNSUPPORTED_MEDIA_TYPE'],
  [
    'more than 20,000 bytes',
    { contentType: 'image/png', bytes: Buffer.concat([PNG, Buffer.alloc(20_000)]) },
    'PAYLOAD_TOO_LARGE',
  ],
])('a logo of %s is rejected', async (_what, file, code) => {
  const scope = await buildMerchant(database.db);
  const step = { ...scope, actor: 'key_1', at: fixture.clock() };
  const logo = { kind: 'LOGO', fileName: 'logo', ...file } as const;
  const added = fixture.runInTransaction(async (tx) =>
    addDocument(tx, step, { ...logo, stored: await storeDocument(fixture.store, logo) }),
  );
  await expect(added).rejects.toMatchObject({ code });
});
