import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';

import { seal } from '../../../src/lib/crypto.ts';
import { decideKyc } from '../../../src/merchants/kyc/application.ts';
import {
  DOCUMENT_BYTES_MAX,
  readDocument,
  reencryptDocuments,
  removeOrphans,
} from '../../../src/merchants/kyc/documents.ts';
import { createDocumentStore } from '../../../src/merchants/kyc/store.ts';
import { createTestDatabase } from '../../support/database.ts';
import { KEY_RING } from '../../support/key-ring.ts';
import { jpeg, pdf, png, startKycFixture, type Applicant, type KycFixture } from './fixture.ts';

let fixture: KycFixture;
let applicant: Applicant;
beforeAll(async () => {
  fixture = await startKycFixture();
});
beforeEach(async () => {
  applicant = await fixture.newApplicant();
});
afterAll(() => fixture.close());

const documents = async () => (await applicant.read()).body.data.documents;
const files = async (): Promise<string[]> => readdir(fixture.folder).catch(() => []);
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const read = (documentId: string, scope = applicant.scope('live')) => readDocument(fixture, { ...scope, documentId });

test.each([
  ['application/pdf', pdf],
  ['image/png', png],
  ['image/jpeg', jpeg],
])('a document that is %s is stored unchanged under a random name, and read back by operators', async (type, make) => {
  const bytes = make();
  const before = await files();
  const answer = await applicant.upload('OWNER_ID', { bytes, type, fileName: 'My passport.scan' });
  expect(answer.status).toBe(201);
  expect(answer.body.data).toEqual({
    documentId: expect.stringMatching(/^kyd_/),
    kind: 'OWNER_ID',
    fileName: 'My passport.scan',
    contentType: type,
    bytes: bytes.length,
    sha256: sha256(bytes),
    submission: 1,
    uploadedAt: fixture.now().toISOString(),
  });
  expect(await documents()).toEqual([answer.body.data]);
  const [added = '', ...more] = (await files()).filter((name) => !before.includes(name));
  expect([more, added]).toEqual([[], expect.stringMatching(/^[0-9a-f]{32}$/)]);
  expect((await readFile(join(fixture.folder, added))).includes(bytes.subarray(0, 8))).toBe(false);
  expect((await stat(join(fixture.folder, added))).mode & 0o777).toBe(0o600);
  expect((await stat(fixture.folder)).mode & 0o777).toBe(0o700);
  const { row, bytes: seen } = await read(answer.body.data.documentId);
  expect([row.storageKey, seen]).toEqual([added, bytes]);
});

test.each([
  '../../../../etc/passwd',
  '/etc/passwd',
  String.raw`..\..\windows\system32\config`,
  'a/../../b.pdf',
  '%2e%2e%2fetc%2fpasswd',
  '.',
  'CON',
  'x"; filename="y.exe',
  '<script>alert(1)</script>',
])('the file name %s is stored as text and not used as a path', async (fileName) => {
  const before = await files();
  const answer = await applicant.upload('OTHER', { bytes: pdf(), fileName });
  expect([answer.status, answer.body.data.fileName]).toEqual([201, fileName]);
  const added = (await files()).filter((name) => !before.includes(name));
  expect(added).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
  expect(await documents()).toMatchObject([{ fileName }]);
});

test.each([
  ['a program', 'application/pdf', Buffer.from('MZ\u0090\u0000 a program')],
  ['HTML', 'image/png', Buffer.from('<html><script>alert(1)</script>')],
  ['a PNG', 'application/pdf', png()],
  ['a PDF', 'image/jpeg', pdf()],
  ['a PDF that begins later', 'application/pdf', Buffer.from(`\n${pdf().toString()}`)],
  ['four bytes', 'application/pdf', Buffer.from('%PDF')],
])('%s uploaded as %s is rejected by its first bytes', async (_, type, bytes) => {
  const before = await files();
  const { status, body } = await applicant.upload('OTHER', { bytes, type });
  expect([status, body.error.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  expect(body.message).toContain(type);
  expect(await documents()).toEqual([]);
  expect(await files()).toEqual(before);
});

test.each(['text/html', 'application/json', 'multipart/form-data; boundary=x', 'application/pdfx', ''])(
  'a Content-Type of "%s" is refused, and the refusal names what is taken',
  async (type) => {
    const { status, body } = await applicant.upload('OTHER', { bytes: pdf(), type });
    expect([status, body.error.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    expect(body.message).toContain('application/pdf, image/png, image/jpeg');
  },
);

test('a compressed and an empty upload are rejected', async () => {
  const path = '/api/checkout/kyc/documents?kind=OTHER';
  const headers = { 'content-type': 'application/pdf', 'content-encoding': 'gzip' };
  expect((await applicant.send('POST', path, { body: pdf(), headers })).status).toBe(415);
  const empty = await applicant.upload('OTHER', { bytes: Buffer.alloc(0) });
  expect([empty.status, empty.body.error.details]).toEqual([
    400,
    [{ field: 'body', issue: expect.any(String), code: 'required' }],
  ]);
});

test.each([
  ['kind=PASSPORT', 'kind'],
  ['', 'kind'],
  ['kind=OTHER&kind=OWNER_ID', 'kind'],
  [`kind=OTHER&fileName=${'x'.repeat(201)}`, 'fileName'],
  ['kind=OTHER&fileName=', 'fileName'],
  ['kind=OTHER&fileName=a%00b', 'fileName'],
  ['kind=OTHER&fileName=a%0d%0aSet-Cookie', 'fileName'],
  ['kind=OTHER&storageKey=x', 'storageKey'],
])('an upload with the query "%s" is rejected, naming %s, and stores nothing', async (query, field) => {
  const before = await files();
  const headers = { 'content-type': 'application/pdf' };
  const { status, body } = await applicant.send('POST', `/api/checkout/kyc/documents?${query}`, {
    body: pdf(),
    headers,
  });
  expect([status, body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  expect(body.error.details[0].field).toBe(field);
  expect(await files()).toEqual(before);
});

test('an upload of 5 MiB is accepted; one byte more is rejected with or without a Content-Length', async () => {
  expect((await applicant.upload('OTHER', { bytes: pdf(DOCUMENT_BYTES_MAX) })).status).toBe(201);
  const tooMuch = pdf(DOCUMENT_BYTES_MAX + 1);
  expect(await sendRaw(tooMuch, { 'content-length': String(tooMuch.length) })).toBe(413);
  expect(await sendRaw(tooMuch, { 'transfer-encoding': 'chunked' })).toBe(413);
  expect(await sendRaw(pdf(), { 'content-length': '99999999999' })).toBe(413);
  expect((await documents()).map(({ bytes }: { bytes: number }) => bytes)).toEqual([DOCUMENT_BYTES_MAX]);
});

/** Sends a document with these headers; the status that comes, also while the body is not wholly sent. */
function sendRaw(body: Buffer, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(`${fixture.url}/api/checkout/kyc/documents?kind=OTHER`, {
      method: 'POST',
      headers: { 'x-api-key': applicant.key('live'), 'content-type': 'application/pdf', ...headers },
    });
    sent.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    // After the answer this is no news: the server closes before it has read all.
    sent.on('error', reject);
    sent.end(body);
  });
}

test('the eleventh document of a submission is rejected, also when all are uploaded concurrently', async () => {
  const answers = await Promise.all(Array.from({ length: 11 }, () => applicant.upload('OTHER', { bytes: pdf() })));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
  for (const { status, body } of answers.filter((answer) => answer.status !== 201)) {
    expect([status, body.error.code]).toEqual([409, 'INVALID_STATE']);
    expect(body.message).toContain('at most 10');
  }
  expect(await documents()).toHaveLength(10);
});

test('the same file is stored once per kind', async () => {
  const bytes = pdf();
  const first = await applicant.upload('OTHER', { bytes, fileName: 'a.pdf' });
  const again = await applicant.upload('OTHER', { bytes, fileName: 'b.pdf' });
  expect([first.status, again.status, again.body.data]).toEqual([201, 200, first.body.data]);
  expect((await applicant.upload('BANK_LETTER', { bytes })).status).toBe(201);
  expect(await documents()).toHaveLength(2);
});

test('an upload repeated with its Idempotency-Key gets the same response, and another file gets 422', async () => {
  const path = '/api/checkout/kyc/documents?kind=OTHER';
  const headers = { 'content-type': 'application/pdf', 'idempotency-key': 'upload-1' };
  const bytes = pdf();
  const first = await applicant.send('POST', path, { body: bytes, headers });
  const again = await applicant.send('POST', path, { body: bytes, headers });
  expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
  expect((await applicant.send('POST', path, { body: pdf(), headers })).body.error.code).toBe('IDEMPOTENCY_KEY_REUSED');
  expect(await documents()).toHaveLength(1);
});

test('after MORE_INFO_NEEDED or REJECTED ten more documents may be added, and earlier ones remain', async () => {
  await applicant.apply('live');
  const decision = { ...applicant.scope('live'), operatorId: 'opr_1', at: fixture.now() };
  await fixture.runInTransaction((tx) =>
    decideKyc(tx, decision, { type: 'request-info', submission: 1, reason: 'A newer licence' }),
  );
  for (let count = 0; count < 10; count += 1) await applicant.upload('OTHER', { bytes: pdf() });
  expect((await applicant.upload('OTHER', { bytes: pdf() })).status).toBe(409);
  expect((await documents()).map(({ submission }: { submission: number }) => submission)).toEqual([
    1,
    1,
    1,
    ...Array.from({ length: 10 }, () => 2),
  ]);
  await applicant.submit();
  await fixture.runInTransaction((tx) =>
    decideKyc(tx, decision, { type: 'reject', submission: 2, reason: 'The licence is not yours' }),
  );
  expect((await applicant.upload('TRADE_LICENCE', { bytes: pdf() })).body.data.submission).toBe(3);
});

test('files of failed uploads are removed after a day, and no others', async () => {
  const { documentId } = (await applicant.upload('OTHER', { bytes: pdf() })).body.data;
  const kept = (await read(documentId)).row.storageKey;
  const names = { orphan: 'a'.repeat(32), young: 'c'.repeat(32) };
  const age = (file: string) => utimes(join(fixture.folder, file), new Date(0), new Date(Date.now() - 25 * 3_600_000));
  for (const file of [...Object.values(names), 'README']) await writeFile(join(fixture.folder, file), 'x');
  for (const file of [kept, names.orphan, 'README']) await age(file);
  const before = await files();

  const other = await createTestDatabase();
  expect(await removeOrphans({ db: other.db, store: fixture.store })).toBe(0);
  await other.drop();
  expect(await files()).toEqual(before);
  expect(await removeOrphans(fixture)).toBe(1);
  expect(await files()).toEqual(before.filter((file) => file !== names.orphan));
  expect(await removeOrphans(fixture)).toBe(0);
  const empty = createDocumentStore(join(fixture.folder, 'none'), KEY_RING);
  expect(await removeOrphans({ db: fixture.db, store: empty })).toBe(0);
});

test("another merchant's document, or one of the other environment, is not found", async () => {
  const stranger = await fixture.newApplicant('Stranger');
  const { documentId } = (await applicant.upload('OTHER', { bytes: pdf() })).body.data;
  await expect(read(documentId, stranger.scope('live'))).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(read(documentId, applicant.scope('sandbox'))).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(read('../../etc/passwd')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect((await read(documentId)).row.id).toBe(documentId);
});

test('a document whose file was altered on the disk is not returned', async () => {
  const { documentId } = (await applicant.upload('OTHER', { bytes: pdf() })).body.data;
  const { row } = await read(documentId);
  const path = join(fixture.folder, row.storageKey);
  await writeFile(path, seal(KEY_RING, documentId, Buffer.from('%PDF-another')));
  await expect(read(documentId)).rejects.toThrow('is not the one that was uploaded');
});

test('an encrypted file cannot be read for another document or with a changed bit', async () => {
  const [one, two] = [pdf(), png()];
  const first = (await applicant.upload('OTHER', { bytes: one })).body.data.documentId;
  const second = (await applicant.upload('OTHER', { bytes: two, type: 'image/png' })).body.data.documentId;
  const pathOf = async (documentId: string) => join(fixture.folder, (await read(documentId)).row.storageKey);
  const [path, other] = [await pathOf(first), await pathOf(second)];
  const sealed = await readFile(path);
  await writeFile(path, await readFile(other));
  await expect(read(first)).rejects.toThrow('unable to authenticate');
  sealed.writeUInt8((sealed.at(-1) ?? 0) ^ 1, sealed.length - 1);
  await writeFile(path, sealed);
  await expect(read(first)).rejects.toThrow('unable to authenticate');
  expect((await read(second)).bytes).toEqual(two);
  sealed.writeUInt8((sealed.at(-1) ?? 0) ^ 1, sealed.length - 1);
  await writeFile(path, sealed);
  expect((await read(first)).bytes).toEqual(one);
});

test('a file is encrypted with the current key when keys are rotated', async () => {
  const bytes = pdf();
  const { documentId } = (await applicant.upload('OTHER', { bytes })).body.data;
  const { row } = await read(documentId);
  const path = join(fixture.folder, row.storageKey);
  const rotated = { currentId: 'next', keys: new Map([['next', randomBytes(32)], ...KEY_RING.keys]) };
  const store = createDocumentStore(fixture.folder, rotated);
  const before = (await files()).length;
  const all = await reencryptDocuments({ db: fixture.db, store }, () => {});
  expect(all).toMatchObject({ reencrypted: all.seen, failed: [] });
  expect(await reencryptDocuments({ db: fixture.db, store }, () => {})).toEqual({ ...all, reencrypted: 0 });
  expect((await files()).length).toBe(before);
  expect((await readFile(path)).includes('%PDF')).toBe(false);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await store.read(row)).toEqual(bytes);
  await expect(read(documentId)).rejects.toThrow('"next" is not in the key ring');
});
