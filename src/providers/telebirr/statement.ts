import { z } from 'zod';

import { parseBirr } from '../../lib/money.ts';
import { ourOrderId, readReply } from '../exchange.ts';
import { StatementPage, type ReadStatement } from '../provider.ts';
import type { TelebirrWire } from './wire.ts';

const text = z.string();
const ROW_TYPES: Record<string, string> = {
  REFUND: 'refund',
  C2B: 'payment',
  B2C: 'payout',
  B2C_REVERSAL: 'payoutReversal',
};
const Row = z
  .object({
    merch_order_id: text,
    trans_type: text,
    trans_amount: text,
    trans_currency: text,
    trans_id: text,
    trans_time: text,
  })
  .transform((row) => ({
    orderId: ourOrderId(row.merch_order_id),
    type: ROW_TYPES[row.trans_type],
    amountSantim: parseBirr(row.trans_amount),
    currency: row.trans_currency,
    providerReference: row.trans_id,
    at: new Date(Number(row.trans_time)),
  }));
const Statement = z
  .object({
    body: z.object({
      result: z.literal('SUCCESS'),
      biz_content: z.object({ records: z.array(Row), next_page_token: text }),
    }),
  })
  .transform(({ body: { biz_content: page } }) => ({
    kind: 'page',
    rows: page.records,
    next: page.next_page_token || null,
  }))
  .pipe(StatementPage);

/** The statement, which is not published; described in src/sandbox/simulator/telebirr/protocol.ts. */
export const connectStatement =
  ({ call }: TelebirrWire): ReadStatement =>
  async (day, cursor) =>
    readReply(
      await call('queryStatement', { bill_date: day.replaceAll('-', ''), page_token: cursor ?? '' }),
      Statement,
    );
