import { z } from 'zod';

import { readRoute, writeRoute, type Route } from '../../src/http/route.ts';
import { rows } from '../../src/lib/db.ts';
import { AppError } from '../../src/lib/errors.ts';
import { patternText } from '../../src/lib/fields.ts';
import { dateParam } from '../../src/lib/pagination.ts';

const Item = z.object({ id: z.string(), name: z.string() });

const list = readRoute('GET /api/items', {
  operationId: 'listItems',
  tag: 'Checkout',
  summary: 'Items',
  auth: { by: 'key', scope: 'transactions:read' },
  rateLimit: 'list',
  query: z.strictObject({
    startDate: dateParam,
    status: z.enum(['OPEN', 'CLOSED']),
    limit: z.string().max(10).optional(),
  }),
  responses: { 200: z.array(Item) },
  paginated: true,
  handle: async () => ({
    message: 'Items',
    dataJson: '[{"id":"1","name":"one"}]',
    pagination: { total: 1, page: 1, limit: 20, totalPages: 1, nextCursor: null },
  }),
});

const echo = readRoute('POST /api/items/:sessionId/echo', {
  operationId: 'echoItem',
  tag: 'Checkout',
  summary: 'Returns its input',
  auth: { by: 'key-or-client-token', scope: 'checkout:write' },
  params: z.strictObject({ sessionId: z.string().max(40) }),
  body: z.strictObject({
    name: z.string().min(2).max(1_000).optional(),
    amount: z.number().positive().optional(),
    customerPhone: patternText(20, /^09/, 'must be a phone number as 09…').optional(),
    metadata: z.record(z.string().max(100), z.unknown()).optional(),
  }),
  responses: { 200: z.object({ sessionId: z.string(), body: z.unknown(), caller: z.string() }) },
  handle: async ({ params, body, caller }) => ({
    message: 'Echo',
    data: { sessionId: params.sessionId, body, caller: caller.kind, secret: 'not declared' },
  }),
});

const broken = readRoute('GET /api/broken', {
  operationId: 'getBroken',
  tag: 'Checkout',
  summary: 'Answers what it does not declare',
  auth: { by: 'public' },
  responses: { 200: Item },
  handle: async () => ({ message: 'Broken', data: { id: 1, name: 'planted-secret' } }),
});

const failing = readRoute('GET /api/failing', {
  operationId: 'getFailing',
  tag: 'Checkout',
  summary: 'Throws an unexpected error',
  auth: { by: 'public' },
  responses: { 200: Item },
  handle: async () => {
    throw new Error('planted-secret');
  },
});

type Hook = (() => Promise<void>) | undefined;

/** Counts how often the handler of `createItem` ran to its end, and what else happens before its effect and after it. */
export type ItemJournal = { runs: number; beforeEffect?: Hook; afterEffect?: Hook };

/** Sample routes: a list, an echo, two broken ones, and a change whose effect is a merchant's row. */
export function itemRoutes(journal: ItemJournal): Route[] {
  const create = writeRoute('POST /api/items', {
    operationId: 'createItem',
    tag: 'Checkout',
    summary: 'Creates an item',
    auth: { by: 'key', scope: 'checkout:write' },
    body: z.strictObject({
      id: z.string().max(64),
      name: z.string().max(64),
      afterCommit: z.enum(['adds', 'fails']).optional(),
    }),
    responses: { 201: Item },
    errors: ['INVALID_STATE'],
    handle: async ({ body, tx }) => {
      if (body.name === 'rejected') throw new AppError('INVALID_STATE', 'Rejected.');
      await journal.beforeEffect?.();
      await rows(tx.trx, 'INSERT INTO merchant (id, name) VALUES (:id, :name)', { id: body.id, name: body.name });
      await journal.afterEffect?.();
      journal.runs += 1;
      return { status: 201, message: 'Made', data: { id: body.id, name: body.name } };
    },
    afterCommit: async (result, { body }) => {
      if (body.afterCommit === 'fails') throw new Error('the provider is unavailable');
      return body.afterCommit === 'adds' ? { ...result, data: { id: body.id, name: 'finished' } } : result;
    },
  });
  return [list, echo, broken, failing, create];
}
