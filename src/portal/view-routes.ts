import { z } from 'zod';

import { readRoute, writeRoute, type Route, type UserCaller } from '../http/route.ts';
import { isUniqueViolation } from '../lib/db-errors.ts';
import { first, insertRow, rows, updateRow, type Database, type Queryable, type Trx } from '../lib/db.ts';
import { AppError, found, invalidState } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { lock } from '../lib/lock.ts';
import { NewView, SavedView, ViewChange, ViewParams } from './schema.ts';

/** Of one person in one merchant. */
const VIEWS_MAX = 20;

const MEMBER = { tag: 'Portal', auth: { by: 'member', permission: 'transactions:read' } } as const;

type ViewRow = Pick<z.output<typeof SavedView>, 'name' | 'filter' | 'shared'> & {
  id: string;
  userId: string;
  ownerName: string;
};
type Person = Pick<UserCaller, 'merchantId' | 'userId'>;

/** The filters of the transaction list that people have saved: their own, and those that others of the merchant share. */
export function viewRoutes({ db }: { db: Database }): Route[] {
  const one = { ...MEMBER, params: ViewParams };
  return [
    readRoute('GET /api/portal/views', {
      ...MEMBER,
      operationId: 'listViews',
      summary: 'Your saved filters of the transaction list, and those that others share, by name',
      responses: { 200: z.array(SavedView) },
      handle: async ({ caller }) => {
        const views = await listViews(db, caller);
        return { message: 'Views retrieved', data: views.map((view) => presentView(view, caller)) };
      },
    }),
    writeRoute('POST /api/portal/views', {
      ...MEMBER,
      operationId: 'createView',
      summary: 'Save a filter of the transaction list under a name',
      body: NewView,
      responses: { 201: SavedView },
      errors: ['DUPLICATE_REFERENCE', 'INVALID_STATE'],
      handle: async ({ tx: { trx }, caller, body }) => {
        const { merchantId, userId } = caller;
        await lock(trx, 'views', `${merchantId} ${userId}`);
        const own = (await listViews(trx, caller)).filter((view) => view.userId === userId);
        if (own.length >= VIEWS_MAX) throw invalidState(`You have ${VIEWS_MAX} views, which is the limit. Delete one.`);
        const { shared = false, ...fields } = body;
        const row = { id: newId('viw'), merchantId, userId, shared, ...fields };
        const { id } = await insertRow<ViewRow>(trx, 'saved_view', row).catch(explainName);
        return { status: 201, message: 'View saved', data: presentView(await readOwn(trx, caller, id), caller) };
      },
    }),
    writeRoute('PATCH /api/portal/views/:viewId', {
      ...one,
      operationId: 'changeView',
      summary: 'Change the name, the filter or the sharing of one of your views',
      body: ViewChange,
      responses: { 200: SavedView },
      errors: ['DUPLICATE_REFERENCE'],
      handle: async ({ tx: { trx }, caller, params: { viewId }, body }) => {
        await readOwn(trx, caller, viewId);
        await updateRow(trx, { table: 'saved_view', id: viewId }, { ...body, updatedAt: new Date() }).catch(
          explainName,
        );
        return { message: 'View changed', data: presentView(await readOwn(trx, caller, viewId), caller) };
      },
    }),
    writeRoute('DELETE /api/portal/views/:viewId', {
      ...one,
      operationId: 'deleteView',
      summary: 'Delete one of your views',
      responses: { 200: z.null() },
      handle: async ({ tx: { trx }, caller, params: { viewId } }) => {
        await readOwn(trx, caller, viewId);
        await rows(trx, 'DELETE FROM saved_view WHERE id = :viewId', { viewId });
        return { message: 'View deleted', data: null };
      },
    }),
  ];
}

const VIEWS = `
  SELECT v.*, u.name AS owner_name FROM saved_view v JOIN user_account u ON u.id = v.user_id
  JOIN membership m ON m.user_id = v.user_id AND m.merchant_id = v.merchant_id AND m.removed_at IS NULL
  WHERE v.merchant_id = :merchantId`;

async function listViews(db: Queryable, { merchantId, userId }: Person): Promise<ViewRow[]> {
  const sql = `${VIEWS} AND (v.user_id = :userId OR v.shared) ORDER BY lower(v.name), v.id`;
  return rows<ViewRow>(db, sql, { merchantId, userId });
}

/** A view of the person. Throws NOT_FOUND, also for one that somebody else shares. */
async function readOwn(trx: Trx, { merchantId, userId }: Person, id: string): Promise<ViewRow> {
  const sql = `${VIEWS} AND v.user_id = :userId AND v.id = :id FOR UPDATE OF v`;
  return found(await first<ViewRow>(trx, sql, { merchantId, userId, id }), 'view');
}

function explainName(error: unknown): never {
  if (!isUniqueViolation(error, 'saved_view_name')) throw error;
  throw new AppError('DUPLICATE_REFERENCE', 'name is that of another of your views. Choose another one.');
}

function presentView({ id, userId, ownerName, name, filter, shared }: ViewRow, caller: Person) {
  return { viewId: id, name, filter, shared, own: userId === caller.userId, ownerName };
}
