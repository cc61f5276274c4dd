import { z } from 'zod';

import { operatorReadRoute, type WorkflowUrl } from '../access/operator-route.ts';
import { environment, temporalUrl } from '../access/operator-schema.ts';
import type { Route } from '../http/route.ts';
import { rows, type Database, type Queryable } from '../lib/db.ts';
import { instant, plainText } from '../lib/fields.ts';
import { maskedInSql } from '../lib/mask.ts';
import { normalisePhone } from '../lib/phone.ts';

const SEARCH_CHARACTERS_MAX = 253;
const NAME_CHARACTERS_MIN = 2;
const HITS_OF_EACH_MAX = 20;
const HITS_MAX = 50;

/** The resources of hits: their paths below /api/ops. */
const KINDS = {
  merchant: 'merchants/',
  transaction: 'transactions/',
  delivery: 'webhooks/deliveries/',
  receiver: 'webhooks/deliveries?receiverHost=',
  withdrawal: 'withdrawals/',
  refund: 'refunds/',
  settlement: 'settlements/',
  receipt: 'receipts/',
} as const;
type Kind = keyof typeof KINDS;

type Search = { text: string; lower: string; phone: string | null; deliveryId: string };

const birr = (santim: string): string => `to_char(${santim} * 0.01, 'FM999,999,999,999,990.00') || ' ETB'`;
/** A look-up: the newest hits under a condition. `select`: the columns of a hit, of which the seventh is the time. */
const hitsOf = (select: string) => (where: string) =>
  `(${select} WHERE ${where} ORDER BY 7 DESC LIMIT ${HITS_OF_EACH_MAX})`;

const transactions = hitsOf(`
  SELECT 'transaction', t.id, t.merchant_id, t.environment, t.status,
         t.checkout_order_no || ': ' || ${birr('t.amount_santim')}
           || coalesce(', ' || ${maskedInSql('t.customer_phone')}, ''), t.created_at,
         'payment-' || (SELECT a.id FROM payment_attempt a WHERE a.transaction_id = t.id
                        ORDER BY a.created_at DESC LIMIT 1)
  FROM transaction t`);
const deliveries = hitsOf(`
  SELECT 'delivery', d.id, d.merchant_id, d.environment, d.status,
         concat_ws(' ', d.event, '· ' || (CAST(convert_from(e.payload, 'UTF8') AS json) #>> '{data,checkoutOrderNo}'),
                   '→', s.receiver_host), d.created_at, 'delivery-' || d.event_id || '-' || d.subscription_id
  FROM webhook_delivery d JOIN webhook_event e ON e.id = d.event_id JOIN webhook_subscription s ON s.id = d.subscription_id`);
const receivers = hitsOf(`
  SELECT 'receiver', s.id, s.merchant_id, s.environment,
         CASE WHEN s.deleted_at IS NOT NULL THEN 'deleted' WHEN s.active THEN 'active' ELSE 'inactive' END,
         s.receiver_host, s.created_at, NULL
  FROM webhook_subscription s`);
const payouts = hitsOf(`
  SELECT p.kind, p.id, p.merchant_id, p.environment, p.status,
         p.reference || ': ' || ${birr('p.amount_santim')} || coalesce(' → ' || ${maskedInSql('coalesce(p.phone, p.account_number)')}, ''),
         p.requested_at, p.kind || '-' || p.id
  FROM payout p`);
const settlements = hitsOf(`
  SELECT 'settlement', l.id, l.merchant_id, l.environment, l.status,
         l.request_id || ': ' || ${birr('l.amount_santim')}, l.requested_at, 'settlement-' || l.id
  FROM settlement l`);
const merchants = hitsOf(`
  SELECT 'merchant', m.id, m.id, NULL, m.status, m.name, m.created_at, NULL FROM merchant m`);
const receipts = hitsOf(`
  SELECT 'receipt', r.id, NULL, r.environment, coalesce(r.outcome, r.kind),
         ${birr('r.amount_santim')} || coalesce(', ' || r.reference, ''), r.booked_at, NULL
  FROM bank_receipt r`);

const ofEvent = (where: string): string => `d.event_id = ANY (ARRAY(SELECT e.id FROM webhook_event e WHERE ${where}))`;

/** The look-ups by the prefix of an id. */
const BY_ID: Readonly<Record<string, readonly string[]>> = {
  mrc: [merchants('m.id = :text')],
  txn: [transactions('t.id = :text'), deliveries(ofEvent('e.resource_id = :text'))],
  cs: [transactions('t.session_id = :text')],
  pat: [transactions('t.id = (SELECT a.transaction_id FROM payment_attempt a WHERE a.id = :text)')],
  evt: [
    transactions('t.id = (SELECT e.resource_id FROM webhook_event e WHERE e.id = :text)'),
    deliveries('d.event_id = :text'),
  ],
  whs: [receivers('s.id = :text'), deliveries("d.subscription_id = :text AND d.status <> 'PENDING'")],
  whd: [deliveries('d.id = :text')],
  // The id of an attempt is that of its delivery and two more characters.
  wha: [deliveries('d.id = :deliveryId')],
  whl: [deliveries('d.id = (SELECT l.delivery_id FROM webhook_dead_letter l WHERE l.id = :text)')],
  wd: [payouts('p.id = :text'), deliveries(ofEvent('e.resource_id = :text'))],
  rfd: [payouts('p.id = :text'), deliveries(ofEvent('e.resource_id = :text'))],
  stl: [settlements('l.id = :text'), deliveries(ofEvent('e.resource_id = :text'))],
  rcp: [receipts('r.id = :text')],
};

/** The look-ups of any other text. Of merchants there are few, so that a part of the name is searched for. */
const BY_TEXT = [
  transactions('t.checkout_order_no = :text'),
  deliveries(
    ofEvent('e.resource_id = ANY (ARRAY(SELECT t.id FROM transaction t WHERE t.checkout_order_no = :text LIMIT 20))'),
  ),
  transactions("t.provider_reference = :text AND t.status = 'SUCCESS'"),
  ...['p.reference = :text', 'p.provider_reference = :text'].map(payouts),
  settlements('l.request_id = :text'),
  receivers('s.receiver_host = :lower'),
  receipts('r.reference = :text'),
  merchants('strpos(lower(m.name), :lower) > 0'),
];
const BY_PHONE = [
  transactions('t.customer_phone = :phone'),
  transactions(
    't.id = ANY (ARRAY(SELECT a.transaction_id FROM payment_attempt a WHERE a.phone = :phone ORDER BY a.created_at DESC LIMIT 20))',
  ),
  payouts('p.phone = :phone'),
];

const ID = /^([a-z]{2,3})_[0-9A-Z]{26,28}$/;

function lookupsOf({ text, phone }: Search): readonly string[] {
  const byId = BY_ID[ID.exec(text)?.[1] ?? ''];
  if (byId) return byId;
  return phone === null ? BY_TEXT : [...BY_TEXT, ...BY_PHONE];
}

type HitRow = Omit<z.input<typeof Hit>, 'url' | 'temporalUrl'> & { workflowId: string | null };

/** Everything with this id, number, phone, reference, host or name: at most 50 hits, the newest first. */
export async function search(db: Queryable, text: string): Promise<HitRow[]> {
  const deliveryId = `whd_${text.slice(4, -2)}`;
  const values: Search = { text, lower: text.toLowerCase(), phone: normalisePhone(text), deliveryId };
  const hits = lookupsOf(values).join('\nUNION\n');
  const sql = `
    SELECT hit.*, m.name AS merchant_name FROM (${hits}) hit (kind, id, merchant_id, environment, status, title, at, workflow_id)
    LEFT JOIN merchant m ON m.id = hit.merchant_id
    ORDER BY hit.at DESC, hit.id LIMIT ${HITS_MAX}`;
  return rows<HitRow>(db, sql, values);
}

export const Hit = z
  .object({
    kind: z.enum(Object.keys(KINDS) as [Kind, ...Kind[]]),
    id: z.string(),
    merchantId: z.string().nullable(),
    merchantName: z.string().nullable(),
    environment: environment.nullable().describe('null: in both'),
    status: z.string(),
    title: z.string().describe('In no language. Phones and account numbers are masked but for four digits'),
    at: instant.describe('When it was created or requested'),
    url: z.string().describe('Its path in this API'),
    temporalUrl,
  })
  .meta({ id: 'OpsHit' });

const SearchQuery = z.strictObject({
  q: plainText(SEARCH_CHARACTERS_MAX)
    .trim()
    .min(NAME_CHARACTERS_MIN)
    .describe(
      "A whole id, order number, phone, receiver's host, or reference of the merchant, the provider or the bank; or a part of a merchant's name",
    ),
});

/** Finds anything by what an operator knows of it. */
export function searchRoutes({ db, workflowUrl }: { db: Database; workflowUrl: WorkflowUrl }): Route[] {
  return [
    operatorReadRoute('GET /api/ops/search', {
      operationId: 'opsSearch',
      cli: { name: 'search', argument: 'q', columns: 'at kind id merchantName environment status title' },
      summary: 'Find merchants, transactions, deliveries and payouts, newest first',
      description: `In both environments, at most ${HITS_MAX} hits. Ids of sessions, attempts, events and dead letters find what they belong to.`,
      query: SearchQuery,
      responses: { 200: z.array(Hit) },
      handle: async ({ query }) => {
        const hits = (await search(db, query.q)).map((hit) => ({
          ...hit,
          url: `/api/ops/${KINDS[hit.kind]}${encodeURIComponent(hit.kind === 'receiver' ? hit.title : hit.id)}`,
          temporalUrl: hit.workflowId === null ? null : workflowUrl(hit.workflowId),
        }));
        return { message: hits.length === 0 ? 'Nothing was found' : 'Found', data: hits };
      },
    }),
  ];
}
