import { createHash } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';

import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { buildMerchant, buildSession, buildFixture, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { REPORTS, REPORTS_DAY as DAY, startReports, type Reports } from '../support/reports.ts';
import { fund } from '../support/withdrawals.ts';

let database: TestDatabase;
let fixture: Fixture;
let reports: Reports;
let scope: MerchantScope;

beforeAll(async () => {
  database = await createTestDatabase();
  fixture = buildFixture(database.db, { clock: () => new Date('2026-03-02T09:00:00.000Z') });
  reports = await startReports(fixture);
});
beforeEach(async () => {
  scope = await buildMerchant(database.db);
});
afterAll(async () => {
  await reports.close();
  await database.drop();
});

/** Fields and lines of RFC 4180; a quoted field keeps its quotes, which distinguish texts from numbers. */
function parseCsv(text: string): string[][] {
  const lines: string[][] = [[]];
  for (const [, field = '', end] of text.matchAll(/("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n|$)/g)) {
    lines.at(-1)?.push(field);
    if (end === '\r\n') lines.push([]);
    if (end === '') break;
  }
  const last = lines.pop();
  if (last?.join('') !== '') throw new Error('a CSV file ends with a line end');
  return lines;
}

const unquoted = (field: string): string => field.replace(/^"|"$/g, '').replaceAll('""', '"');

/** The text of one entry of a zip file. */
function unzip(file: Buffer, name: string): string {
  for (let at = file.lastIndexOf('PK\u0005\u0006') && file.readUInt32LE(file.lastIndexOf('PK\u0005\u0006') + 16); ;) {
    if (file.readUInt32LE(at) !== 0x02_01_4b_50) throw new Error(`no ${name} in the zip file`);
    const nameLength = file.readUInt16LE(at + 28);
    const entry = file.toString('utf8', at + 46, at + 46 + nameLength);
    const [packed, offset] = [file.readUInt32LE(at + 20), file.readUInt32LE(at + 42)];
    const start = offset + 30 + file.readUInt16LE(offset + 26);
    if (entry === name) return inflateRawSync(file.subarray(start, start + packed)).toString();
    at += 46 + nameLength + file.readUInt16LE(at + 30);
  }
}

const bytesOf = async (reportId: string): Promise<Buffer> => {
  const response = await fetch(`${reports.url}${REPORTS}/${reportId}/file`, {
    headers: { 'x-api-key': `sandbox:${scope.merchantId}` },
  });
  return Buffer.from(await response.arrayBuffer());
};

/** Customer names that a spreadsheet, CSV or XML may misread. */
const MALICIOUS = ['=1+1', '+251911', '-1', '@SUM(A1)', '\t=1', '＝1', 'a,"b"\r\nc', '<x>&amp;'];

async function createMaliciousCustomers(): Promise<void> {
  for (const name of MALICIOUS) {
    const { transactionId } = await buildSession(fixture, scope, {});
    await rows(database.db, 'UPDATE transaction SET customer_name = :name, customer_phone = :phone WHERE id = :id', {
      id: transactionId,
      name,
      phone: '251911000001',
    });
  }
}

test('a CSV file has a byte order mark, one heading line, quoted texts and unquoted amounts', async () => {
  await fund(fixture, scope, 1_250_50n);
  const { report } = await reports.download(scope, DAY);
  const bytes = await bytesOf(report.reportId);
  expect(bytes.subarray(0, 3)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(report.sha256);
  expect(bytes.length).toBe(report.fileSize);
  const [heading = [], line = [], ...rest] = parseCsv(bytes.toString().slice(1));
  expect(rest).toEqual([]);
  expect(heading.slice(0, 5).map(unquoted)).toEqual([
    'Checkout Order No',
    'Amount',
    'Currency',
    'Transaction Through',
    'Transaction Date',
  ]);
  const cell = (name: string) => line[heading.indexOf(`"${name}"`)];
  expect([cell('Amount'), cell('Fee'), cell('Fee Tax'), cell('Net Amount')]).toEqual([
    '1250.50',
    '31.26',
    '4.69',
    '1214.55',
  ]);
  expect(cell('Transaction ID')).toMatch(/^"txn_/);
  expect([cell('Created at (Addis Ababa, UTC+3)'), cell('Created at (UTC)')]).toEqual([
    '"2026-03-02 12:00:00"',
    '"2026-03-02 09:00:00"',
  ]);
  expect(cell('Transaction Date (Ethiopian)')).toBe('"23 Yekatit 2018"');
});

test('a CSV file has its days, zone, filters and snapshot in its last two columns, and days, filters and snapshot in its name', async () => {
  await fund(fixture, scope, 100_00n);
  const { report, file } = await reports.download(scope, { ...DAY, status: 'SUCCESS,FAILED', channel: 'TELEBIRR' });
  const [heading, line] = parseCsv(file.text);
  expect(heading?.slice(-2).map(unquoted)).toEqual(['Report Filters', 'Report as of (UTC)']);
  expect(line?.slice(-2).map(unquoted)).toEqual([
    '2026-03-02 to 2026-03-02 Africa/Addis_Ababa; status SUCCESS FAILED; channel TELEBIRR',
    report.snapshotAt.slice(0, 19).replace('T', ' '),
  ]);
  const asOf = `${report.snapshotAt.slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  const name = `payments-sandbox-2026-03-02-SUCCESS-FAILED-TELEBIRR-as-of-${asOf}.csv`;
  expect(report.fileName).toBe(name);
  expect(file.headers.get('content-disposition')).toBe(`attachment; filename="${name}"`);
});

test('a text that a spreadsheet would read as a formula is escaped in CSV and XLSX, and unchanged in JSON', async () => {
  await createMaliciousCustomers();
  const { file } = await reports.download(scope, DAY);
  const [heading = [], ...lines] = parseCsv(file.text);
  const column = heading.indexOf('"Customer Name"');
  const escaped = MALICIOUS.map((name) => (/^[=+\-@\t＝]/.test(name) ? `'${name}` : name));
  expect(lines.map((line) => unquoted(line[column] ?? '')).toSorted()).toEqual(escaped.toSorted());
  expect(new Set(lines.map((line) => line[heading.indexOf('"Customer Phone"')]))).toEqual(new Set(['"251911000001"']));
  expect(new Set(lines.map((line) => line.length))).toEqual(new Set([heading.length]));

  const { report } = await reports.download(scope, { ...DAY, format: 'XLSX' });
  const sheet = unzip(await bytesOf(report.reportId), 'xl/worksheets/sheet1.xml');
  expect(sheet).not.toContain('<f>');
  for (const name of escaped) {
    const text = name.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    expect(sheet).toContain(`<t xml:space="preserve">${text}</t>`);
  }

  const { file: json } = await reports.download(scope, { ...DAY, format: 'JSON' });
  expect(json.body.rows.map((row: { customerName: string }) => row.customerName).toSorted()).toEqual(
    MALICIOUS.toSorted(),
  );
});

test('an XLSX file has amounts as numbers, days and times as dates, ids as text, and a sheet about the report', async () => {
  await fund(fixture, scope, 1_250_50n);
  const { report, file } = await reports.download(scope, { ...DAY, format: 'XLSX' });
  expect(file.headers.get('content-type')).toBe('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet');
  const bytes = await bytesOf(report.reportId);
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(report.sha256);
  const sheet = unzip(bytes, 'xl/worksheets/sheet1.xml');
  expect(sheet).toContain('<c r="B2" s="1"><v>1250.50</v></c>');
  // 2 March 2026 as a serial date; noon in Addis Ababa is 9 o'clock UTC.
  const day = 46_083;
  expect(sheet).toContain(`<c r="E2" s="4"><v>${day}</v></c>`);
  expect(sheet).toContain(`<c r="I2" s="5"><v>${day + 12 / 24}</v></c><c r="J2" s="5"><v>${day + 9 / 24}</v></c>`);
  expect(sheet).toMatch(/<c r="L2" s="2" t="inlineStr"><is><t xml:space="preserve">cs_/);
  expect(sheet).toContain('<autoFilter ref="A1:AD2"/>');
  // The widths fit the currency's heading and a transaction's id.
  expect(sheet).toContain('<col min="3" max="3" width="12" customWidth="1"/>');
  expect(sheet).toContain('<col min="11" max="11" width="34" customWidth="1"/>');
  const about = unzip(bytes, 'xl/worksheets/sheet2.xml');
  for (const text of ['Africa/Addis_Ababa (UTC+3)', report.snapshotAt, 'Snapshot At', report.reportId]) {
    expect(about).toContain(text);
  }
  expect(about).toMatch(/Sum of Net Amount.*<v>1214\.55<\/v>/);
});

test('an XLSX file whose rows cannot be read to the end is removed', async () => {
  for (let count = 0; count < 3; count += 1) await buildSession(fixture, scope);
  const { id } = await reports.createQueued(scope, { format: 'XLSX' });
  const before = (await reports.storedNames()).length;
  const stopped = reports.generator({}, 1)(id, (rowsDone) => {
    if (rowsDone === 2) throw new Error('the database is gone');
  });
  await expect(stopped).rejects.toThrow('the database is gone');
  expect(await reports.storedNames()).toHaveLength(before);
});

test('a report without rows is READY with zero totals and a file of headings in CSV, XLSX and JSON', async () => {
  for (const format of ['CSV', 'XLSX', 'JSON']) {
    const { report, file } = await reports.download(scope, { ...DAY, format });
    expect(report).toMatchObject({ status: 'READY', rowsTotal: 0, totals: { amount: 0, netAmount: 0 } });
    expect(file.status).toBe(200);
    if (format === 'JSON') expect(file.body.rows).toEqual([]);
    if (format === 'CSV') expect(parseCsv(file.text)).toHaveLength(1);
  }
});

test('a download has its checksum as ETag and Repr-Digest; with If-None-Match it is 304', async () => {
  await fund(fixture, scope, 100_00n);
  const { report, file } = await reports.download(scope, DAY);
  const etag = file.headers.get('etag') ?? '';
  expect(etag).toBe(`"${report.sha256}"`);
  expect(file.headers.get('content-length')).toBe(String(report.fileSize));
  const digest = Buffer.from(report.sha256, 'hex').toString('base64');
  expect(file.headers.get('repr-digest')).toBe(`sha-256=:${digest}:`);
  const headers = { 'x-api-key': `sandbox:${scope.merchantId}`, 'if-none-match': etag };
  const path = `${reports.url}${REPORTS}/${report.reportId}/file`;
  // Without it, fetch itself sends cache-control: no-cache.
  const again = await fetch(path, { headers: { ...headers, 'cache-control': 'max-age=0' } });
  expect([again.status, await again.text()]).toEqual([304, '']);
  const head = await fetch(path, { method: 'HEAD', headers: { 'x-api-key': headers['x-api-key'] } });
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([
    200,
    String(report.fileSize),
    '',
  ]);
});
