import { z } from 'zod';

import { parseBirr } from '../../lib/money.ts';
import { readReply } from '../exchange.ts';
import { StatementPage, type ReadStatement } from '../provider.ts';
import type { CbeBirrWire } from './wire.ts';

const ROW_TYPES: Record<string, string> = {
  PUSH: 'payment',
  PAYOUT: 'payout',
  PAYOUT_REVERSAL: 'payoutReversal',
  REFUND: 'refund',
};

const text = z.string();
const Row = z
  .object({ transactionId: text, type: text, amount: text, currency: text, reference: text, time: text })
  .transform(({ transactionId: orderId, type, amount, currency, reference: providerReference, time }) => {
    const [amountSantim, at] = [parseBirr(amount), new Date(time)];
    return { orderId, type: ROW_TYPES[type], amountSantim, currency, providerReference, at };
  });
const Statement = z
  .object({ body: z.object({ rows: z.array(Row), nextCursor: text }) })
  .transform(({ body: { rows, nextCursor } }) => ({ kind: 'page', rows, next: nextCursor || null }))
  .pipe(StatementPage);

/** The statement, which is not published either; described in src/sandbox/simulator/cbe-birr/protocol.ts. */
export const connectStatement =
  ({ call }: CbeBirrWire): ReadStatement =>
  async (statementDate, cursor) =>
    readReply(await call('/statement', { statementDate, cursor: cursor ?? '' }), Statement);
