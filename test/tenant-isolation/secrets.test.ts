import { Writable } from 'node:stream';

import pg from 'pg';

import { Registry } from '../../src/http/metrics.ts';
import { createLogger } from '../../src/lib/log.ts';
import { until } from '../support/until.ts';
import { untilIdle } from './belongings.ts';
import { startTestService, type TestService } from './service.ts';

const NAME = 'Plantedname Zewdie';
const EMAIL = 'planted.person@example.et';
const PHONE = '0922334455';
const PAYER = '0911000001';
/** A phone without a callback, so that the payment gets a workflow. */
const SILENT_PAYER = '0911000004';
const PAYERS = { payer: PAYER.slice(1), silentPayer: SILENT_PAYER.slice(1) };
const METADATA = 'planted-metadata-value';
const HEADER = 'planted-header-value';
const CLAIM = 'planted-claim-words';
const RESPONSE_TEXT = 'planted-receiver-response';
const WRONG_KEY = 'sk_test_plantedwrongkey';

const lines: string[] = [];
const registry = new Registry();
/** Values that must not appear outside the database, by their kind. */
const planted: Record<string, string> = {
  name: NAME,
  email: EMAIL,
  phone: PHONE.slice(1),
  metadata: METADATA,
  header: HEADER,
  claim: CLAIM,
  response: RESPONSE_TEXT,
  wrongKey: WRONG_KEY,
};
const errorBodies: string[] = [];
let service: TestService;
let key: string;
let merchantId: string;
let scope: pg.Client;

const found = (texts: readonly string[], also: Record<string, string> = {}): string[] =>
  Object.entries({ ...planted, ...also }).flatMap(([what, secret]) => {
    const text = texts.find((each) => each.includes(secret));
    return text === undefined ? [] : [`${what} in ${text.slice(0, 2_000)}`];
  });

async function post(path: string, body: unknown): Promise<Record<string, string>> {
  const response = await service.send('POST', `/api/checkout/${path}`, { key, body });
  if (response.status >= 400) errorBodies.push(response.text);
  return response.body.data ?? {};
}

const newSession = (order: string) =>
  post('sessions', {
    checkoutOrderNo: order,
    amount: 20,
    currency: 'ETB',
    customerName: NAME,
    customerEmail: EMAIL,
    customerPhone: PHONE,
    metadata: { note: METADATA },
  });

beforeAll(async () => {
  const destination = new Writable({ write: (chunk, _, done) => (lines.push(String(chunk)), done()) });
  service = await startTestService({ log: createLogger('trace', 'test', { destination }), registry });
  // Messages are deleted when they are sent: a trigger keeps a copy.
  scope = new pg.Client({ connectionString: service.fixture.database.ownerUrl });
  await scope.connect();
  await scope.query(`
    CREATE TABLE outbox_seen (row text);
    CREATE FUNCTION see_outbox() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
      $$ BEGIN INSERT INTO public.outbox_seen VALUES (NEW::text); RETURN NEW; END $$;
    CREATE TRIGGER outbox_seen BEFORE INSERT OR UPDATE ON outbox FOR EACH ROW EXECUTE FUNCTION see_outbox();
    CREATE TRIGGER outbox_seen BEFORE INSERT OR UPDATE ON webhook_workflow_start FOR EACH ROW EXECUTE FUNCTION see_outbox();
  `);
  // The receiver repeats a header that the merchant keeps secret.
  const body = `${RESPONSE_TEXT} ${HEADER}`;
  service.failing.behave({ kind: 'answer', status: 503, body, headers: { 'x-planted': RESPONSE_TEXT } });
  merchantId = await service.newMerchant('Abyssinia Coffee');
  key = planted['key'] = await service.newKey(merchantId);

  const person = { contactPerson: NAME, email: EMAIL, phone: PHONE, legalName: NAME, address: METADATA };
  await service.send('PUT', '/api/checkout/kyc', { key, body: person });
  const scan = new Blob([`%PDF-1.7 ${NAME}`], { type: 'application/pdf' });
  const fileName = encodeURIComponent(NAME);
  await service.send('POST', `/api/checkout/kyc/documents?kind=OWNER_ID&fileName=${fileName}`, { key, body: scan });

  for (const url of [service.healthy.url, service.failing.url]) {
    const made = await post('webhooks/subscriptions', { url, eventTypes: ['*'], headers: { 'x-shop': HEADER } });
    planted[`secret of ${url}`] = made['secret'] ?? 'missing';
  }
  const paid = await newSession('PLANTED-1');
  planted['clientToken'] = paid['clientToken'] ?? 'missing';
  await post(`sessions/${paid['sessionId']}/pay`, { channel: 'TELEBIRR', phone: PAYER });
  const silent = await newSession('PLANTED-0');
  await post(`sessions/${silent['sessionId']}/pay`, { channel: 'TELEBIRR', phone: SILENT_PAYER });
  await post(`hooks/success/${paid['sessionId']}`, { reason: CLAIM, claimedStatus: CLAIM });
  await until('the failing receiver to be given up', () =>
    service.fixture.db
      .knex()('webhookDelivery')
      .where({ merchantId, status: 'FAILED', event: 'payment.succeeded' })
      .first('id'),
  );
  const event = await service.fixture.db
    .knex()('webhookEvent')
    .where({ merchantId, event: 'payment.succeeded' })
    .first('id');
  await post(`webhooks/events/${event.id}/resend`, {});
  const { callbackSecret } = await service.fixture.db
    .knex()('paymentAttempt')
    .where({ merchantId })
    .first('callbackSecret');
  planted['callbackSecret'] = callbackSecret;
  await untilIdle(service);
}, 60_000);
afterAll(async () => {
  await scope.end();
  await service.close();
}, 60_000);

test('errors repeat no private value of the request', async () => {
  const fields = { customerName: NAME, customerEmail: `${EMAIL} ${EMAIL}`, customerPhone: `${PHONE}x${PHONE}` };
  await post('sessions', { checkoutOrderNo: 'PLANTED-1', amount: 20, currency: 'ETB', ...fields });
  await post('sessions', { checkoutOrderNo: 'PLANTED-1', amount: 20, currency: 'ETB', customerName: NAME });
  await post('sessions', { checkoutOrderNo: 'P', amount: 20, currency: 'ETB', metadata: { note: [METADATA] } });
  await post('sessions', { checkoutOrderNo: 'P', amount: 20, currency: 'ETB', metadata: METADATA });
  await post('sessions', `{"customerName":"${NAME}","customerPhone":${PHONE}`);
  await post('webhooks/subscriptions', {
    url: service.healthy.url,
    eventTypes: ['*'],
    headers: { 'x-shop': `${HEADER}\n` },
  });
  await post('webhooks/subscriptions', {
    url: service.healthy.url,
    eventTypes: ['*'],
    headers: { 'webhook-id': HEADER },
  });
  const wrong = { contactPerson: `${NAME}\n`, email: `${EMAIL} `, phone: `${PHONE}x`, address: `${METADATA}\n` };
  errorBodies.push((await service.send('PUT', '/api/checkout/kyc', { key, body: { ...wrong, tin: PHONE } })).text);
  const open = await newSession('PLANTED-2');
  await post(`sessions/${open['sessionId']}/pay`, { channel: 'TELEBIRR', phone: PHONE });
  await post(`sessions/${open['sessionId']}/pay`, { channel: 'TELEBIRR', phone: `${PHONE}${PHONE}${PHONE}${PHONE}` });
  const get = async (path: string, headers: Record<string, string>): Promise<void> => {
    const response = await service.send('GET', path, { headers });
    expect(response.status).toBeGreaterThanOrEqual(400);
    errorBodies.push(response.text);
  };
  await get('/api/checkout/channels', { 'x-api-key': WRONG_KEY });
  await get('/api/checkout/channels', { 'x-api-key': key, authorization: `Bearer ${key.slice(0, -1)}` });
  await get(`/api/checkout/hooks/status/${open['sessionId']}`, { 'x-client-token': planted['clientToken'] ?? '' });
  await get(`/api/checkout/txns/get_all_txns?search=${PHONE}`, { 'x-api-key': key });
  expect(errorBodies.length).toBeGreaterThanOrEqual(14);
  expect(found(errorBodies)).toEqual([]);
});

test('metrics contain no private value', async () => {
  const texts = [await (await fetch(service.api.metricsUrl ?? '')).text(), await registry.metrics()];
  for (const text of texts) expect(text).toContain('# TYPE');
  expect(found(texts, PAYERS)).toEqual([]);
});

test('messages to Temporal and its histories contain no private value', async () => {
  const { rows: observed } = await scope.query<{ row: string }>('SELECT row FROM outbox_seen');
  expect(observed.length).toBeGreaterThan(0);
  const histories = await readHistories();
  expect([...histories.keys()].toSorted()).toEqual(['payment', 'webhookDelivery']);
  const texts = [...observed.map(({ row }) => row), ...[...histories.values()].flat()];
  expect([...histories.values()].flat().join()).toContain(merchantId);
  // Operators see the first characters of a response, without the header that it repeats.
  expect(texts.join()).toContain(`${RESPONSE_TEXT} ***`);
  const others = found(texts, PAYERS).filter((one) => !one.startsWith('response in '));
  expect(others).toEqual([]);
});

test('the log contains no private value', () => {
  expect(lines.join('')).toContain('callback stored');
  expect(lines.join('')).toContain('request completed');
  expect(found(lines, PAYERS)).toEqual([]);
});

test('the log contains no private value when the database rejects a row and quotes it', async () => {
  lines.length = 0;
  await scope.query(`ALTER TABLE transaction ADD CONSTRAINT refused CHECK (status <> 'SUCCESS') NOT VALID`);
  const { sessionId } = await newSession('PLANTED-3');
  await post(`sessions/${sessionId}/pay`, { channel: 'TELEBIRR', phone: PAYER });
  await until('the refusal in the log', async () => lines.join('').includes('callback not handled'));
  await post(`hooks/success/${sessionId}`, { reason: CLAIM });
  await scope.query(`ALTER TABLE transaction DROP CONSTRAINT refused`);
  expect(found(lines, PAYERS)).toEqual([]);
  expect(lines.join('')).toContain('"constraint":"refused"');
});

/** Descriptions and histories of the workflows of this test, by type; Temporal's list of workflows lags by seconds. */
async function readHistories(): Promise<Map<string, string[]>> {
  const { client } = service.fixture.temporal;
  const query = `TaskQueue STARTS_WITH '${service.fixture.config.TASK_QUEUE_PREFIX}'`;
  return until('workflows of both types in the list', async () => {
    const texts = new Map<string, string[]>();
    for await (const { workflowId, runId, type } of client.workflow.list({ query })) {
      const handle = client.workflow.getHandle(workflowId, runId);
      const [description, history] = [await handle.describe(), await handle.fetchHistory()];
      texts.set(type, [...(texts.get(type) ?? []), readable(description.raw), readable(history)]);
    }
    return texts.size === 2 && texts;
  });
}

/** A Temporal message as text with decoded payloads, which JSON encodes in base64. */
function readable(message: unknown): string {
  return JSON.stringify(message).replaceAll(/"data":"([A-Za-z0-9+/=]*)"/g, (_, data: string) => atob(data));
}
