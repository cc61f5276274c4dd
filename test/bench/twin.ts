import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

import pg from 'pg';
import { Pool } from 'undici';

import { TRANSACTION_THROUGH, type Channel } from '../../src/channels/channel.ts';
import { newId } from '../../src/lib/ids.ts';
import { EVENT_TYPES } from '../../src/webhooks/catalogue.ts';
import { signedRequest } from '../../src/webhooks/signature.ts';

/*
 * What a program without engine, framework, keys, retries and log would do for the same work: POST records an event,
 * answers, signs it, sends it and notes that it was taken; GET lists transactions with their exact total.
 * Arguments: port, database, receiver, merchant.
 */
const [port, databaseUrl, receiverUrl = '', merchantId] = process.argv.slice(2);
const database = new pg.Pool({ connectionString: databaseUrl, max: 10 });
const receiver = new URL(receiverUrl);
const sender = new Pool(receiver.origin, { connections: 100 });
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

type Event = { id: string; payload: string; at: Date };

async function publish(request: IncomingMessage): Promise<Event> {
  const asked = JSON.parse((await text(request)) || '{}') as { event?: string };
  const event = asked.event ?? 'webhook.test';
  const at = new Date();
  const id = newId('evt', at.getTime());
  const data = EVENT_TYPES['webhook.test'].example;
  const payload = JSON.stringify({ event, event_id: id, api_version: 'v1.0', created_at: at.toISOString(), data });
  await database.query(
    `WITH event AS (INSERT INTO twin_event (id, event, payload, created_at) VALUES ($1, $2, $3, $4))
     INSERT INTO twin_delivery (event_id, status, created_at) VALUES ($1, 'PENDING', $4)`,
    [id, event, payload, at],
  );
  return { id, payload, at };
}

async function deliver({ id, payload }: Event): Promise<void> {
  const signing = { secret: SECRET, previousSecret: null, encoding: 'base64', customHeaders: {} } as const;
  const signed = signedRequest({ payload: Buffer.from(payload), eventId: id, attemptAt: new Date(), ...signing });
  const answer = await sender.request({ method: 'POST', path: receiver.pathname, ...signed });
  await answer.body.dump();
  await database.query(
    `UPDATE twin_delivery SET status = 'DELIVERED', http_status = $2, delivered_at = now() WHERE event_id = $1`,
    [id, answer.statusCode],
  );
}

type Row = Record<string, string | null> & { created_at: Date; completed_at: Date | null; channel: Channel | null };

const COLUMNS = `id, session_id, checkout_order_no, amount_santim, currency, type, status, channel, provider_reference,
  failure, customer_name, customer_email, customer_phone, metadata, created_at, completed_at`;
const WHERE = `merchant_id = $1 AND environment = 'sandbox' AND currency = $2 AND created_at >= $3 AND created_at < $4`;

async function list(query: URLSearchParams): Promise<string> {
  const from = new Date(`${query.get('startDate')}T00:00:00+03:00`);
  const until = new Date(new Date(`${query.get('endDate')}T00:00:00+03:00`).getTime() + 86_400_000);
  const limit = Number(query.get('limit'));
  const page = Number(query.get('page'));
  const filter = [merchantId, query.get('currency'), from, until];
  const [total, rows] = await Promise.all([
    database.query<{ total: string }>(`SELECT count(*) AS total FROM transaction WHERE ${WHERE}`, filter),
    database.query<Row>(
      `SELECT ${COLUMNS} FROM transaction WHERE ${WHERE} ORDER BY created_at DESC, id DESC LIMIT $5 OFFSET $6`,
      [...filter, limit, (page - 1) * limit],
    ),
  ]);
  const pagination = { total: Number(total.rows[0]?.total), page, limit };
  return JSON.stringify({ statusCode: 200, message: 'ok', data: rows.rows.map(present), pagination });
}

function present(row: Row) {
  return {
    checkoutOrderNo: row['checkout_order_no'],
    amount: Number(row['amount_santim']) / 100,
    currency: row['currency'],
    transactionThrough: row.channel && TRANSACTION_THROUGH[row.channel],
    transactionDate: new Date(row.created_at.getTime() + 3 * 3_600_000).toISOString().slice(0, 10),
    type: row['type'],
    status: row['status'],
    createdAt: row.created_at.toISOString(),
    sessionId: row['session_id'],
    transactionId: row['id'],
    customerName: row['customer_name'] ?? undefined,
    customerEmail: row['customer_email'] ?? undefined,
    customerPhone: row['customer_phone'] ?? undefined,
    providerReference: row['provider_reference'] ?? undefined,
    completedAt: row.completed_at?.toISOString(),
    failure: row['failure'] ?? undefined,
    environment: 'sandbox',
    metadata: row['metadata'] ?? undefined,
  };
}

const server = createServer(async (request, response) => {
  try {
    if (request.method === 'GET') {
      const answer = await list(new URL(request.url ?? '/', 'http://twin').searchParams);
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
      return;
    }
    const event = await publish(request);
    response.writeHead(202, { 'content-type': 'application/json' }).end(JSON.stringify({ eventId: event.id }));
    await deliver(event);
  } catch (error) {
    process.stderr.write(`${String(error)}\n`);
    if (!response.headersSent) response.writeHead(500).end();
  }
});
server.keepAliveTimeout = 60_000;
server.listen(Number(port), '127.0.0.1');
