import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

import pg from 'pg';
import { Pool } from 'undici';

import { newId } from '../../src/lib/ids.ts';
import { signedRequest } from '../../src/webhooks/delivery/attempt.ts';
import { EVENT_CATALOGUE, type EventName } from '../support/event-catalogue.ts';
import { createBaselineDispatcher, type Claimed } from './baseline-dispatcher.ts';
import { createBaselineList } from './baseline-list.ts';
import { createBaselinePayments } from './baseline-payments.ts';

/*
 * The same work without Temporal, framework, API keys, retries and attempt log, by named
 * statements. Arguments: port, database, origin of the simulator.
 *   POST /events?subscription=N   records an event and its delivery in a transaction and wakes the dispatcher, which
 *                                 claims, signs, sends, and records the outcome
 *   POST /sessions                one INSERT
 *   POST /sessions/{id}/pay       orders its payment, which is booked and notified after the provider's callback
 *   GET  /list?…                  a page of transactions and their exact total
 *   POST /refusals, GET /livez    responses of the same size without a database
 */
const [port, databaseUrl, providerOrigin = ''] = process.argv.slice(2);
// Like our sessions: with statistics of an empty queue PostgreSQL would scan the whole of a long one.
const database = new pg.Pool({ connectionString: databaseUrl, max: 10, options: '-c enable_seqscan=off' });
const receivers = new Map<string, Pool>();
const { wake } = createBaselineDispatcher({ database, send });
const list = createBaselineList(database);
const callbackUrl = `http://127.0.0.1:${port}/callbacks`;
const { pay, receive } = createBaselinePayments({
  database,
  inTransaction,
  providerOrigin,
  callbackUrl,
  recordEvent,
  wake,
});

async function publish(request: IncomingMessage, subscriptionId: number): Promise<unknown> {
  await readJson(request);
  const eventId = await inTransaction((client) => recordEvent(client, 'webhook.test', subscriptionId));
  wake();
  return { eventId };
}

async function inTransaction<Result>(work: (client: pg.ClientBase) => Promise<Result>): Promise<Result> {
  const client = await database.connect();
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

/** With a delivery, unless it is for no subscription. */
async function recordEvent(client: pg.ClientBase, event: EventName, subscriptionId: number | null): Promise<string> {
  const at = new Date();
  const id = newId('evt', at.getTime());
  const data = EVENT_CATALOGUE[event].example;
  const payload = JSON.stringify({ event, event_id: id, api_version: 'v1.0', created_at: at.toISOString(), data });
  await client.query({ name: 'event', text: INSERT_EVENT, values: [id, event, payload, at] });
  if (subscriptionId !== null)
    await client.query({ name: 'delivery', text: INSERT_DELIVERY, values: [id, subscriptionId, at] });
  return id;
}

const INSERT_EVENT = 'INSERT INTO baseline_event (id, event, payload, created_at) VALUES ($1, $2, $3, $4)';
const INSERT_DELIVERY = `INSERT INTO baseline_delivery (event_id, subscription_id, status, created_at)
  VALUES ($1, $2, 'PENDING', $3)`;

async function send({ event_id: eventId, payload, url, secret }: Claimed): Promise<number> {
  const { origin, pathname } = new URL(url);
  const receiver = receivers.get(origin) ?? new Pool(origin, { connections: 100 });
  receivers.set(origin, receiver);
  const signing = { secret, previousSecret: null, encoding: 'base64', customHeaders: {} } as const;
  const signed = signedRequest({ payload: Buffer.from(payload), eventId, attemptAt: new Date(), ...signing });
  const response = await receiver.request({ method: 'POST', path: pathname, ...signed, headersTimeout: 3_000 });
  await response.body.dump();
  return response.statusCode;
}

const readJson = async <Body extends object>(request: IncomingMessage): Promise<Body> =>
  JSON.parse(await text(request)) as Body;

async function createSession(request: IncomingMessage): Promise<unknown> {
  const { checkoutOrderNo, amount } = await readJson<{ checkoutOrderNo: string; amount: number }>(request);
  const sessionId = newId('cs');
  const values = [sessionId, checkoutOrderNo, Math.round(amount * 100), new Date()];
  await database.query({ name: 'session', text: INSERT_SESSION, values });
  return { sessionId, checkoutOrderNo, amount };
}

const INSERT_SESSION = `INSERT INTO baseline_session (id, checkout_order_no, amount_santim, created_at)
  VALUES ($1, $2, $3, $4)`;

async function handle(request: IncomingMessage): Promise<[status: number, data: unknown]> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://baseline');
  const paid = /^[/]sessions[/](\w+)[/]pay$/.exec(pathname)?.[1];
  if (paid !== undefined)
    return [200, envelope('ok', await pay(paid, (await readJson<{ phone: string }>(request)).phone))];
  switch (pathname) {
    case '/events':
      return [202, await publish(request, Number(searchParams.get('subscription')))];
    case '/sessions':
      return [201, envelope('ok', await createSession(request))];
    case '/callbacks':
      return [200, await receive(await readJson(request))];
    case '/list':
      return [200, await list(searchParams)];
    case '/refusals':
      return [400, rejection(await readJson(request))];
    default:
      return [200, envelope('The process is alive', { status: 'ok' })];
  }
}

const rejection = (body: object) => ({
  statusCode: 400,
  message: `checkoutOrderNo is required, got only ${Object.keys(body).join(', ')}`,
  data: null,
  error: { code: 'VALIDATION_ERROR', details: [{ field: 'checkoutOrderNo', issue: 'is required' }] },
  requestId: newId('req'),
  timestamp: new Date(),
});
const envelope = (message: string, data: unknown) => ({ statusCode: 200, message, data, timestamp: new Date() });

const server = createServer(async (request, response) => {
  try {
    const [status, data] = await handle(request);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(data));
  } catch (error) {
    process.stderr.write(`${String(error)}\n`);
    if (!response.headersSent) response.writeHead(500).end();
  }
});
server.keepAliveTimeout = 60_000;
server.listen(Number(port), '127.0.0.1');
