import { Writable } from 'node:stream';

import pg from 'pg';

import { Registry } from '../../src/http/metrics.ts';
import { createLogger } from '../../src/lib/log.ts';
import { until } from '../support/worker.ts';
import { settle } from './belongings.ts';
import { startWalls, type Walls } from './world.ts';

const NAME = 'Plantedname Zewdie';
const EMAIL = 'planted.person@example.et';
const PHONE = '0922334455';
const PAYER = '0911000001';
/** Never answers, so that the payment gets a workflow. */
const SILENT_PAYER = '0911000004';
const PAYERS = { payer: PAYER.slice(1), silentPayer: SILENT_PAYER.slice(1) };
const METADATA = 'planted-metadata-value';
const HEADER = 'planted-header-value';
const CLAIM = 'planted-claim-words';
const ANSWER = 'planted-receiver-answer';
const WRONG_KEY = 'sk_test_plantedwrongkey';

const lines: string[] = [];
const registry = new Registry();
/** What may be seen nowhere outside the database, by what it is. */
const planted: Record<string, string> = {
  name: NAME,
  email: EMAIL,
  phone: PHONE.slice(1),
  metadata: METADATA,
  header: HEADER,
  claim: CLAIM,
  answer: ANSWER,
  wrongKey: WRONG_KEY,
};
const errorBodies: string[] = [];
let walls: Walls;
let key: string;
let merchantId: string;
let scope: pg.Client;

const found = (texts: readonly string[], also: Record<string, string> = {}): string[] =>
  Object.entries({ ...planted, ...also }).flatMap(([what, secret]) => {
    const text = texts.find((each) => each.includes(secret));
    return text === undefined ? [] : [`${what} in ${text.slice(0, 2_000)}`];
  });

async function post(path: string, body: unknown): Promise<Record<string, string>> {
  const answer = await walls.send('POST', `/api/checkout/${path}`, { key, body });
  if (answer.status >= 400) errorBodies.push(answer.text);
  return answer.body.data ?? {};
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
  walls = await startWalls({ log: createLogger('trace', 'test', { destination }), registry });
  // What is told to Temporal is deleted once it was told: a trigger keeps a copy.
  scope = new pg.Client({ connectionString: walls.world.database.ownerUrl });
  await scope.connect();
  await scope.query(`
    CREATE TABLE outbox_seen (row text);
    CREATE FUNCTION see_outbox() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
      $$ BEGIN INSERT INTO public.outbox_seen VALUES (NEW::text); RETURN NEW; END $$;
    CREATE TRIGGER outbox_seen BEFORE INSERT OR UPDATE ON outbox FOR EACH ROW EXECUTE FUNCTION see_outbox();
  `);
  walls.failing.behave({ kind: 'answer', status: 503, body: ANSWER, headers: { 'x-answer': ANSWER } });
  merchantId = await walls.newMerchant('Abyssinia Coffee');
  key = planted['key'] = await walls.newKey(merchantId);

  const person = { contactPerson: NAME, email: EMAIL, phone: PHONE, legalName: NAME, address: METADATA };
  await walls.send('PUT', '/api/checkout/kyc', { key, body: person });
  const scan = new Blob([`%PDF-1.7 ${NAME}`], { type: 'application/pdf' });
  const fileName = encodeURIComponent(NAME);
  await walls.send('POST', `/api/checkout/kyc/documents?kind=OWNER_ID&fileName=${fileName}`, { key, body: scan });

  for (const url of [walls.healthy.url, walls.failing.url]) {
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
    walls.world.db('webhookDelivery').where({ merchantId, status: 'FAILED', event: 'payment.succeeded' }).first('id'),
  );
  const event = await walls.world.db('webhookEvent').where({ merchantId, event: 'payment.succeeded' }).first('id');
  await post(`webhooks/events/${event.id}/resend`, {});
  const { callbackSecret } = await walls.world.db('paymentAttempt').where({ merchantId }).first('callbackSecret');
  planted['callbackSecret'] = callbackSecret;
  await settle(walls);
}, 60_000);
afterAll(async () => {
  await scope.end();
  await walls.close();
}, 60_000);

test('errors repeat nothing private that was sent', async () => {
  const fields = { customerName: NAME, customerEmail: `${EMAIL} ${EMAIL}`, customerPhone: `${PHONE}x${PHONE}` };
  await post('sessions', { checkoutOrderNo: 'PLANTED-1', amount: 20, currency: 'ETB', ...fields });
  await post('sessions', { checkoutOrderNo: 'PLANTED-1', amount: 20, currency: 'ETB', customerName: NAME });
  await post('sessions', { checkoutOrderNo: 'P', amount: 20, currency: 'ETB', metadata: { note: [METADATA] } });
  await post('sessions', { checkoutOrderNo: 'P', amount: 20, currency: 'ETB', metadata: METADATA });
  await post('sessions', `{"customerName":"${NAME}","customerPhone":${PHONE}`);
  await post('webhooks/subscriptions', {
    url: walls.healthy.url,
    eventTypes: ['*'],
    headers: { 'x-shop': `${HEADER}\n` },
  });
  await post('webhooks/subscriptions', {
    url: walls.healthy.url,
    eventTypes: ['*'],
    headers: { 'webhook-id': HEADER },
  });
  const wrong = { contactPerson: `${NAME}\n`, email: `${EMAIL} `, phone: `${PHONE}x`, address: `${METADATA}\n` };
  errorBodies.push((await walls.send('PUT', '/api/checkout/kyc', { key, body: { ...wrong, tin: PHONE } })).text);
  const open = await newSession('PLANTED-2');
  await post(`sessions/${open['sessionId']}/pay`, { channel: 'TELEBIRR', phone: PHONE });
  await post(`sessions/${open['sessionId']}/pay`, { channel: 'TELEBIRR', phone: `${PHONE}${PHONE}${PHONE}${PHONE}` });
  const get = async (path: string, headers: Record<string, string>): Promise<void> => {
    const answer = await walls.send('GET', path, { headers });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    errorBodies.push(answer.text);
  };
  await get('/api/checkout/channels', { 'x-api-key': WRONG_KEY });
  await get('/api/checkout/channels', { 'x-api-key': key, authorization: `Bearer ${key.slice(0, -1)}` });
  await get(`/api/checkout/hooks/status/${open['sessionId']}`, { 'x-client-token': planted['clientToken'] ?? '' });
  await get(`/api/checkout/txns/get_all_txns?search=${PHONE}`, { 'x-api-key': key });
  expect(errorBodies.length).toBeGreaterThanOrEqual(14);
  expect(found(errorBodies)).toEqual([]);
});

test('metrics hold none of it', async () => {
  const texts = [await (await fetch(walls.api.metricsUrl ?? '')).text(), await registry.metrics()];
  for (const text of texts) expect(text).toContain('# TYPE');
  expect(found(texts, PAYERS)).toEqual([]);
});

test('what Temporal is told holds none of it, and its histories neither', async () => {
  const { rows: seen } = await scope.query<{ row: string }>('SELECT row FROM outbox_seen');
  expect(seen.length).toBeGreaterThan(0);
  const histories = await readHistories();
  expect([...histories.keys()].toSorted()).toEqual(['payment', 'webhookDelivery']);
  const texts = [...seen.map(({ row }) => row), ...[...histories.values()].flat()];
  expect([...histories.values()].flat().join()).toContain(merchantId);
  expect(found(texts, PAYERS)).toEqual([]);
});

test('the log holds none of it', () => {
  expect(lines.join('')).toContain('callback stored');
  expect(lines.join('')).toContain('request completed');
  expect(found(lines, PAYERS)).toEqual([]);
});

test('the log holds none of it when the database refuses a row and quotes it', async () => {
  lines.length = 0;
  await scope.query(`ALTER TABLE transaction ADD CONSTRAINT refused CHECK (status <> 'SUCCESS') NOT VALID`);
  const { sessionId } = await newSession('PLANTED-3');
  await post(`sessions/${sessionId}/pay`, { channel: 'TELEBIRR', phone: PAYER });
  await until('the refusal in the log', async () => lines.join('').includes('a callback could not be handled'));
  await post(`hooks/success/${sessionId}`, { reason: CLAIM });
  await scope.query(`ALTER TABLE transaction DROP CONSTRAINT refused`);
  expect(found(lines, PAYERS)).toEqual([]);
  expect(lines.join('')).toContain('"constraint":"refused"');
});

/** Descriptions and histories of this test's workflows, by type; the list of workflows lags behind a little. */
async function readHistories(): Promise<Map<string, string[]>> {
  const { client } = walls.world.temporal;
  const query = `TaskQueue STARTS_WITH '${walls.world.config.TASK_QUEUE_PREFIX}'`;
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

/** A message of Temporal's as text, its payloads decoded: as JSON it has them in base64. */
function readable(message: unknown): string {
  return JSON.stringify(message).replaceAll(/"data":"([A-Za-z0-9+/=]*)"/g, (_, data: string) => atob(data));
}
