import { saveFile } from '../../ui/download.ts';
import { call, type AuditEntry } from '../routes.ts';

const PAGE_ROWS = 100;
const ROWS_MAX = 5_000;

const COLUMNS = [
  'at',
  'operatorId',
  'operatorName',
  'proposedBy',
  'action',
  'resourceType',
  'resourceId',
  'merchantId',
  'environment',
  'before',
  'after',
  'reason',
  'requestId',
] as const satisfies readonly (keyof AuditEntry)[];

/** A value of a file: quoted, and with an apostrophe where a spreadsheet would run it as a formula. */
function cell(value: AuditEntry[keyof AuditEntry]): string {
  const plain = typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);
  return `"${(/^[=+\-@\t\r]/.test(plain) ? `'${plain}` : plain).replaceAll('"', '""')}"`;
}

/** Saves the changes of a filter as CSV, the newest first. Whether some did not fit. Throws CallFailure. */
export async function saveAudit(filter: Readonly<Record<string, string | undefined>>): Promise<boolean> {
  const entries: AuditEntry[] = [];
  let totalPages = 1;
  for (let page = 1; page <= Math.min(totalPages, ROWS_MAX / PAGE_ROWS); page += 1) {
    const { data, pagination } = await call('GET /api/ops/audit', { query: { ...filter, page, limit: PAGE_ROWS } });
    entries.push(...data);
    totalPages = pagination?.totalPages ?? 1;
  }
  const lines = entries.map((entry) => COLUMNS.map((name) => cell(entry[name])).join(','));
  saveFile(new Blob([[COLUMNS.join(','), ...lines].join('\r\n')], { type: 'text/csv' }), 'audit.csv');
  return totalPages * PAGE_ROWS > ROWS_MAX;
}
