import { createHash } from 'node:crypto';

import { createKey, createOperatorKey } from '../../src/access/api-keys.ts';
import { createOperator } from '../../src/access/operators.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { FORMATS } from '../../src/reports/formats/formats.ts';
import type { HttpResponse } from '../support/http.ts';
import { type ObjectStore, startObjectStore } from '../support/object-store.ts';
import { type Program, startProgram } from '../support/program.ts';
import { insertUnpaid } from '../support/reports.ts';
import { until } from '../support/until.ts';
import { createWorkerFixture, type WorkerFixture } from '../support/worker.ts';

const BUCKET = 'meskot-journey';
const PDF = Buffer.from(`%PDF-1.7\n${'the owner, page by page\n'.repeat(1_000)}`);
const START_MS = 240_000;
const REPORTS = '/api/checkout/reports';
const DAY = { kind: 'payments', period: 'day', date: '2026-03-02' } as const;
const ROWS = FORMATS.CSV.immediateRowsMax + 10;

let store: ObjectStore;
let fixture: WorkerFixture;
const programs: Program[] = [];
let [first, second, withoutStore] = ['', '', ''];

async function start(command: 'api' | 'worker', changes: Record<string, string> = {}): Promise<string> {
  const { database, config } = fixture;
  const port = await anyFreePort();
  const portalPort = await anyFreePort();
  const program = await startProgram(command, {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: config.TEMPORAL_ADDRESS,
    TASK_QUEUE_PREFIX: config.TASK_QUEUE_PREFIX,
    API_PORT: String(port),
    PORTAL_PORT: String(portalPort),
    PUBLIC_BASE_URL: 'http://127.0.0.1:4000',
    OPERATORS_ON_PUBLIC_API: 'true',
    ...store.settings(BUCKET),
    ...changes,
  });
  programs.push(program);
  return `http://127.0.0.1:${port}`;
}

beforeAll(async () => {
  store = await startObjectStore();
  await store.newBucket(BUCKET);
  fixture = await createWorkerFixture();
  const away = { S3_ENDPOINT: `http://127.0.0.1:${await anyFreePort()}` };
  const started = [start('api'), start('api'), start('api', away), start('worker', { TASK_QUEUES: 'reports' })];
  [first = '', second = '', withoutStore = ''] = await Promise.all(started);
}, START_MS);
afterAll(async () => {
  await Promise.all(programs.map(async (program) => program.kill()));
  await fixture.close();
  await store.stop();
}, START_MS);

const clock = () => new Date();
const keyOf = async (scope: MerchantScope): Promise<string> => {
  const { db, config } = fixture;
  const input = { ...scope, kind: 'secret' } as const;
  return (await db.transaction((trx) => createKey({ trx, pepper: config.API_KEY_PEPPER, clock }, input))).secret;
};
const operatorKey = async (): Promise<string> => {
  const { db, config } = fixture;
  return db.transaction(async (trx) => {
    const { id } = await createOperator(trx, { name: 'Admin', email: 'admin@meskot.example', role: 'admin' });
    return (await createOperatorKey({ trx, pepper: config.API_KEY_PEPPER, clock }, { operatorId: id })).secret;
  });
};
type Sent = { key: string; method?: string; type?: string; body?: string | Uint8Array<ArrayBuffer> };
type Answer = Pick<HttpResponse, 'status' | 'body'> & { bytes: Buffer };
const call = async (url: string, path: string, { key, type = 'application/json', ...sent }: Sent): Promise<Answer> => {
  const response = await fetch(url + path, { ...sent, headers: { 'x-api-key': key, 'content-type': type } });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return { status: response.status, bytes, body: isJson ? JSON.parse(bytes.toString()) : null };
};
const post = async (url: string, path: string, { key, body }: { key: string; body: object }): Promise<Answer> =>
  call(url, path, { key, method: 'POST', body: JSON.stringify(body) });
const upload = async (url: string, key: string): Promise<Answer> => {
  const file = { type: 'application/pdf', body: new Uint8Array(PDF) };
  return call(url, '/api/checkout/kyc/documents?kind=OWNER_ID', { key, method: 'POST', ...file });
};
const untilReady = async (key: string, reportId: string): Promise<Answer> =>
  until('the report to be READY', async () => {
    const report = await call(second, `${REPORTS}/${reportId}`, { key });
    return report.body.data.status === 'READY' && report;
  });

test('a document that one API process has taken is read through another, and is encrypted in the bucket', async () => {
  const scope = await fixture.newMerchant();
  const uploaded = await upload(first, await keyOf(scope));
  expect(uploaded.status).toBe(201);
  const path = `/api/ops/merchants/${scope.merchantId}/kyc/documents/${uploaded.body.data.documentId}`;
  const key = await operatorKey();
  expect((await call(second, `${path}?environment=sandbox`, { key })).bytes).toEqual(PDF);
  const { files } = await store.keys(BUCKET);
  expect(files).toEqual([expect.stringMatching(/^documents\/[0-9a-f]{32}$/)]);
  expect((await store.read(BUCKET, files[0] ?? '')).includes('%PDF')).toBe(false);
});

test('a report that a worker has generated is downloaded from an API process', async () => {
  const scope = await fixture.newMerchant();
  await insertUnpaid(fixture.db, scope, { count: ROWS, at: new Date(`${DAY.date}T09:00:00.000Z`) });
  const key = await keyOf(scope);
  const { body, status } = await post(first, REPORTS, { key, body: { ...DAY, format: 'CSV' } });
  expect([status, body.data.status]).toEqual([202, 'QUEUED']);
  const { reportId } = body.data;
  const { sha256 } = (await untilReady(key, reportId)).body.data;
  const file = await call(second, `${REPORTS}/${reportId}/file`, { key });
  expect(createHash('sha256').update(file.bytes).digest('hex')).toBe(sha256);
  expect(file.bytes.toString().trimEnd().split('\r\n')).toHaveLength(ROWS + 1);
});

test('while its store is away, an API process takes payments, refuses files with 503, and leaves reports to the worker', async () => {
  const scope = await fixture.newMerchant();
  const key = await keyOf(scope);
  expect((await fetch(`${withoutStore}/readyz`)).status).toBe(200);
  const session = { checkoutOrderNo: 'ORDER-1', amount: 100, currency: 'ETB' };
  expect((await post(withoutStore, '/api/checkout/sessions', { key, body: session })).status).toBe(201);

  const refused = await upload(withoutStore, key);
  expect([refused.status, refused.body.error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  expect(refused.body.message).toMatch(/^The store of files/);
  expect((await call(first, '/api/checkout/kyc', { key })).body.data.documents).toEqual([]);

  const { body } = await post(withoutStore, REPORTS, { key, body: { ...DAY, format: 'CSV' } });
  await untilReady(key, body.data.reportId);
  const path = `${REPORTS}/${body.data.reportId}/file`;
  const download = await fetch(withoutStore + path, { headers: { 'x-api-key': key } });
  expect([download.status, download.headers.get('content-disposition'), download.headers.get('etag')]).toEqual([
    503,
    null,
    null,
  ]);
  expect((await call(second, path, { key })).status).toBe(200);
});

test('calls to the bucket are counted by their outcome', async () => {
  const metrics = await Promise.all(programs.map(async ({ metricsUrl }) => (await fetch(metricsUrl)).text()));
  const counted = metrics.flatMap((text) => text.match(/^meskot_file_store_calls_total.*/gm) ?? []);
  const of = (what: string, outcome: string) => expect.stringContaining(`call="${what}",outcome="${outcome}"`);
  expect(counted).toEqual(expect.arrayContaining([of('write', 'ok'), of('read', 'ok'), of('write', 'failed')]));
});
