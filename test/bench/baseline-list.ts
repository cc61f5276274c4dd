import type pg from 'pg';

import { TRANSACTION_THROUGH, type Channel } from '../../src/merchants/channels/channel.ts';

type Row = Record<string, string | null> & { created_at: Date; completed_at: Date | null; channel: Channel | null };

const COLUMNS = `id, session_id, checkout_order_no, amount_santim, currency, type, status, channel, provider_reference,
  failure, customer_name, customer_email, customer_phone, metadata, created_at, completed_at`;
const WHERE = `merchant_id = $1 AND environment = 'sandbox' AND currency = $2 AND created_at >= $3 AND created_at < $4`;
const TOTAL = `SELECT count(*) AS total FROM transaction WHERE ${WHERE}`;
const PAGE = `SELECT ${COLUMNS} FROM transaction WHERE ${WHERE} ORDER BY created_at DESC, id DESC LIMIT $5 OFFSET $6`;

/** The transactions of one page, newest first, and their exact total. */
export function createBaselineList(database: pg.Pool) {
  return async (query: URLSearchParams): Promise<unknown> => {
    const from = new Date(`${query.get('startDate')}T00:00:00+03:00`);
    const until = new Date(new Date(`${query.get('endDate')}T00:00:00+03:00`).getTime() + 86_400_000);
    const limit = Number(query.get('limit'));
    const page = Number(query.get('page'));
    const filter = [query.get('merchantId'), query.get('currency'), from, until];
    const [total, rows] = await Promise.all([
      database.query<{ total: string }>({ name: 'total', text: TOTAL, values: filter }),
      database.query<Row>({ name: 'page', text: PAGE, values: [...filter, limit, (page - 1) * limit] }),
    ]);
    const pagination = { total: Number(total.rows[0]?.total), page, limit };
    return { statusCode: 200, message: 'ok', data: rows.rows.map(present), pagination };
  };
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
