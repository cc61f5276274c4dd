import { Readable } from 'node:stream';

import { z } from 'zod';

import { merchantAudit, type MerchantAuditFilter, type MerchantAuditRow } from '../access/merchant-audit.ts';
import { hasPermission, readRoute, type Route, type UserCaller } from '../http/route.ts';
import type { Database } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { maskPhones } from '../lib/mask.ts';
import { countUpTo, paginateNewest, readNewest } from '../lib/paginate-newest.ts';
import { readDayRange, readPage } from '../lib/pagination.ts';
import { scopeOf } from '../lib/scope.ts';
import { FORMATS } from '../reports/formats/formats.ts';
import { renderTable } from '../reports/formats/rendering.ts';
import { textColumns, timeColumns, ZONE, type Column } from '../reports/sources/columns.ts';
import { readPages } from '../reports/sources/source.ts';
import * as schema from './schema.ts';

const READ = { tag: 'Portal', auth: { by: 'member', permission: 'audit:read' }, rateLimit: 'list' } as const;

/** What people and keys of a merchant have changed, in the environment of the request and in both. */
export function merchantAuditRoutes({ db }: { db: Database }): Route[] {
  const { contentType, immediateRowsMax: rowsMax, pageRows } = FORMATS.CSV;
  return [
    readRoute('GET /api/portal/audit', {
      ...READ,
      operationId: 'listMerchantAudit',
      summary: 'What people and keys of your merchant have changed, newest first',
      description:
        'Changes of keys, people, channels, webhooks, verification and bank account, money out, and what was sent again, in this environment or in both. The days default to the last 30, and are at most 93 apart. Developers and support see their own changes only.',
      query: schema.MerchantAuditQuery,
      responses: { 200: z.array(schema.MerchantAuditEntry) },
      paginated: true,
      handle: async ({ caller, query, at }) => {
        const listed = merchantAudit(filterOf(caller, query, at));
        const { rows, pagination } = await paginateNewest<MerchantAuditRow>(db, listed, readPage(query));
        const data = rows.map(({ id: auditId, occurredAt, ...row }) => ({ auditId, ...row, at: occurredAt }));
        return { message: 'Audit log retrieved', data, pagination };
      },
    }),
    readRoute('GET /api/portal/audit/export', {
      ...READ,
      operationId: 'exportMerchantAudit',
      summary: 'The audit log that the list returns for the same filter, as CSV',
      description: `At most ${rowsMax} rows.`,
      query: schema.MerchantAuditFilterQuery,
      responses: { 200: z.string() },
      fileTypes: ['text/csv'],
      handle: async ({ caller, query, at }) => {
        const filter = filterOf(caller, query, at);
        const listed = merchantAudit(filter);
        if ((await countUpTo(db, listed, rowsMax + 1)) > rowsMax) {
          throw new AppError('VALIDATION_ERROR', `The filter matches more than ${rowsMax} changes. Narrow its days.`);
        }
        const { startDate, endDate } = filter.range;
        const columns = columnsFor(caller);
        const pages = readPages(columns, (part) => readNewest<MerchantAuditRow>(db, listed, part), pageRows);
        const given = Object.entries(filter.given).filter(([, value]) => value !== undefined);
        const narrowing = given.map(([name, value]) => `${name} ${value}`);
        const filters = [`${startDate} to ${endDate} ${ZONE}`, ...narrowing].join('; ');
        const table = renderTable({ columns, pages }, { filters, asOf: at });
        const name = `audit-${caller.environment}-${startDate}-to-${endDate}.csv`;
        return { file: { name, contentType, open: async () => Readable.from(table) } };
      },
    }),
  ];
}

type Query = z.output<typeof schema.MerchantAuditFilterQuery>;

/** Some roles see only what they have done themselves. */
function filterOf(caller: UserCaller, { startDate, endDate, ...query }: Query, at: Date): MerchantAuditFilter {
  const { actor, action, resourceId, requestId } = query;
  const given = { actor, action, resourceId, requestId };
  const own = hasPermission(caller, 'audit:read-all') ? undefined : caller.userId;
  return { ...scopeOf(caller), range: readDayRange({ startDate, endDate }, at), given, own };
}

function columnsFor(caller: UserCaller): readonly Column<MerchantAuditRow>[] {
  const textOf = (fields: object | null): string | null => {
    const text = fields && JSON.stringify(fields);
    return text && !hasPermission(caller, 'phones:read') ? maskPhones(text) : text;
  };
  return [
    ...timeColumns<MerchantAuditRow>('occurredAt'),
    ...textColumns<MerchantAuditRow>('environment', 'actorName', 'actor', 'action', 'resourceId'),
    { key: 'before', heading: 'Before', cell: ({ before }) => textOf(before) },
    { key: 'after', heading: 'After', cell: ({ after }) => textOf(after) },
    ...textColumns<MerchantAuditRow>('address', 'requestId'),
  ];
}
