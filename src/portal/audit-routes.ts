import { Readable } from 'node:stream';

import { z } from 'zod';

import {
  countMerchantAudit,
  listMerchantAudit,
  readMerchantAudit,
  type MerchantAuditFilter,
  type MerchantAuditRow,
} from '../access/merchant-audit.ts';
import { hasPermission, readRoute, type Route, type UserCaller } from '../http/route.ts';
import type { Database } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { maskPhones } from '../lib/mask.ts';
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
        const { rows, pagination } = await listMerchantAudit(db, filterOf(caller, query, at), readPage(query));
        const data = rows.map(({ id: auditId, occurredAt, ...row }) => ({ auditId, ...row, at: occurredAt }));
        return { message: 'Audit log retrieved', data, pagination };
      },
    }),
    exportRoute(db),
  ];
}

function exportRoute(db: Database): Route {
  const { contentType, immediateRowsMax: rowsMax, pageRows } = FORMATS.CSV;
  return readRoute('GET /api/portal/audit/export', {
    ...READ,
    operationId: 'exportMerchantAudit',
    summary: 'The audit log that the list returns for the same filter, as CSV',
    description: `At most ${rowsMax} rows.`,
    query: schema.MerchantAuditFilterQuery,
    responses: { 200: z.string() },
    fileTypes: ['text/csv'],
    handle: async ({ caller, query, at }) => {
      const filter = filterOf(caller, query, at);
      if ((await countMerchantAudit(db, filter, rowsMax + 1)) > rowsMax) {
        throw new AppError('VALIDATION_ERROR', `The filter matches more than ${rowsMax} changes. Narrow its days.`);
      }
      const { startDate, endDate } = filter.range;
      const columns = columnsFor(caller);
      const pages = readPages(columns, (part) => readMerchantAudit(db, filter, part), pageRows);
      const filters = [`${startDate} to ${endDate} ${ZONE}`, ...narrowing(filter)].join('; ');
      const table = renderTable({ columns, pages }, { filters, asOf: at });
      const name = `audit-${caller.environment}-${startDate}-to-${endDate}.csv`;
      return { file: { name, contentType, open: async () => Readable.from(table) } };
    },
  });
}

type Query = z.output<typeof schema.MerchantAuditFilterQuery>;

/** Some roles see only what they have done themselves. */
function filterOf(caller: UserCaller, { startDate, endDate, ...filter }: Query, at: Date): MerchantAuditFilter {
  const { actor, action, resourceId, requestId } = filter;
  const shown = {
    actor,
    action,
    resourceId,
    requestId,
    ...scopeOf(caller),
    range: readDayRange({ startDate, endDate }, at),
  };
  return hasPermission(caller, 'audit:read-all') ? shown : { ...shown, own: caller.userId };
}

function narrowing({ actor, action, resourceId, requestId }: MerchantAuditFilter): string[] {
  const given = Object.entries({ actor, action, resourceId, requestId }).filter(([, value]) => value !== undefined);
  return given.map(([name, value]) => `${name} ${value}`);
}

function columnsFor(caller: UserCaller): readonly Column<MerchantAuditRow>[] {
  const jsonColumn = (name: 'before' | 'after'): Column<MerchantAuditRow> => ({
    key: name,
    heading: name === 'before' ? 'Before' : 'After',
    cell: ({ [name]: fields }) => {
      const text = fields && JSON.stringify(fields);
      return text && !hasPermission(caller, 'phones:read') ? maskPhones(text) : text;
    },
  });
  return [
    ...timeColumns<MerchantAuditRow>('occurredAt'),
    ...textColumns<MerchantAuditRow>('environment', 'actorName', 'actor', 'action', 'resourceId'),
    jsonColumn('before'),
    jsonColumn('after'),
    ...textColumns<MerchantAuditRow>('address', 'requestId'),
  ];
}
