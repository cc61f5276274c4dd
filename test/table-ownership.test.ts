import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { ORDER } from '../oxlint.config.mjs';

const PROJECT = resolve(import.meta.dirname, '..');

/** The folder that owns each table and view: only it writes them, and folders above it may read them. */
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  lib: ['timeline'],
  outbox: ['mail', 'outbox', 'workflow_recovery'],
  http: ['idempotency_key', 'sign_in_count'],
  access: [
    'api_key',
    'membership',
    'merchant_audit',
    'operator',
    'operator_audit',
    'passkey',
    'proposal',
    'recovery_code',
    'request_log',
    'user_account',
    'user_session',
    'user_token',
  ],
  merchants: [
    'merchant',
    'channel',
    'channel_maintenance',
    'merchant_channel',
    'limit_rule',
    'kyc_application',
    'kyc_document',
    'kyc_tier',
    'review_policy',
  ],
  providers: ['provider_callback', 'provider_credential'],
  ledger: ['external_reference', 'fee_rule', 'ledger_account', 'ledger_balance', 'ledger_entry', 'ledger_journal'],
  webhooks: [
    'sandbox_receiver_request',
    'webhook_attempt',
    'webhook_dead_letter',
    'webhook_delivery',
    'webhook_event',
    'webhook_resend_item',
    'webhook_resend_job',
    'webhook_subscription',
    'webhook_workflow_start',
  ],
  payments: ['checkout_session', 'payment_attempt', 'transaction'],
  payouts: ['payout', 'payout_approval', 'payout_case', 'payout_resolution'],
  settlements: ['bank_account', 'holiday', 'settlement', 'settlement_limit'],
  reconciliation: [
    'bank_receipt',
    'current_statement_row',
    'reconciliation',
    'reconciliation_discrepancy',
    'reconciliation_statement',
    'statement_row',
  ],
  reports: ['report', 'report_schedule'],
  portal: ['saved_view'],
};
const OWNER_OF = new Map(
  Object.entries(OWNERS).flatMap(([room, tables]) => tables.map((table) => [table, room] as const)),
);

const heightOf = (room: string): number => ORDER.findIndex((rooms) => rooms.includes(room));

/** SQL keywords before a table name, in their usual case. */
const READS = /\b(?:FROM|JOIN)\s+(?:ONLY\s+)?([a-z_]+)/g;
/** A table that is given by name to a statement of a lower folder: `recheckOrders(db, { table: 'payout', … })`. */
const NAMED = /\btable: '([a-z_]+)'(?=,| })/g;
const WRITES = /\b(?:INSERT INTO|UPDATE|DELETE FROM|TRUNCATE)\s+([a-z_]+)/g;
/** The functions that write rows: `insertRow<Row>(trx, 'mail', …)`, `updateRow(trx, { table: 'mail', … }, …)`, and leases. */
const ROW_WRITES =
  /\b(?:insertRow|insertSql|updateRow|deleteInBatches|checkUnderLease)(?:<[\w, ]+>)?\(\s*(?:[\w.]+,\s*)?(?:\{\s*table: )?'([a-z_]+)'/g;
/** Knex's builder, by which a room writes its own tables: `trx.knex()('bankAccount')`. */
const BUILDS = /\b(?:db|trx)(?:<[^()]+>)?\('([a-zA-Z]+)'\)/g;

type Access = { file: string; table: string; write: boolean };

function accessesIn(file: string): Access[] {
  const text = readFileSync(join(PROJECT, file), 'utf8');
  const built = [...text.matchAll(BUILDS)].map(([, name = '']) => name.replace(/[A-Z]/g, (letter) => `_${letter}`));
  const statements = [WRITES, ROW_WRITES].flatMap((writes) =>
    [...text.matchAll(writes)].map(([, table = '']) => table),
  );
  const written = new Set([...statements, ...built.map((name) => name.toLowerCase())]);
  const read = new Set([READS, NAMED].flatMap((reads) => [...text.matchAll(reads)].map(([, table = '']) => table)));
  const found = new Set([...written, ...read]);
  return [...found].filter((table) => OWNER_OF.has(table)).map((table) => ({ file, table, write: written.has(table) }));
}

const files = readdirSync(join(PROJECT, 'src'), { recursive: true })
  .map((name) => `src/${String(name)}`)
  .filter((name) => name.endsWith('.ts'));
const accesses = files.flatMap(accessesIn);

/** `folder table` for each access against the order of folders. */
function exceptions(isOne: (access: Access, room: string, owner: string) => boolean): string[] {
  const found = accesses.flatMap((access) => {
    const [, room = ''] = access.file.split('/');
    const owner = OWNER_OF.get(access.table) ?? '';
    return room !== owner && isOne(access, room, owner) ? [`${room} ${access.table}`] : [];
  });
  return [...new Set(found)].toSorted();
}

/** Writes to a table of another folder, each with its reason. */
const WRITES_ELSEWHERE = {
  'demo outbox': 'the seed removes the starts of workflows that have nothing left to do',
  'payments outbox': 'one statement ends an attempt and removes or writes the row for its workflow',
  'webhooks outbox': 'one statement records attempts and the start of the workflow that follows',
};

test('a folder writes no table of another folder, except those listed with a reason', () => {
  expect(exceptions(({ write }) => write)).toEqual(Object.keys(WRITES_ELSEWHERE));
});

/** Reads of tables of folders beside or above, each with its reason. */
const READS_UPWARD = {
  'access merchant':
    'a key and the status of its merchant are read in one statement, on every request; and names by ids of any kind',
};

test('a folder reads no table of a folder beside it or above it, except those listed with a reason', () => {
  const isUpward = (access: Access, room: string, owner: string): boolean =>
    !access.write && heightOf(room) <= heightOf(owner);
  expect(exceptions(isUpward)).toEqual(Object.keys(READS_UPWARD));
});

test('every table has an owner', () => {
  const folder = join(PROJECT, 'migrations');
  const tables = new Set<string>();
  for (const name of readdirSync(folder)
    .filter((one) => one.endsWith('.sql'))
    .toSorted()) {
    const sql = readFileSync(join(folder, name), 'utf8');
    const changes =
      /^(?:CREATE (?:UNLOGGED )?(?:TABLE|VIEW) (?<made>\w+)|DROP TABLE (?<dropped>[\w, ]+)|ALTER TABLE (?<from>\w+) RENAME TO (?<to>\w+))/gm;
    for (const { groups: { made, dropped = '', from = '', to } = {} } of sql.matchAll(changes)) {
      for (const gone of [...dropped.split(', '), from]) tables.delete(gone);
      for (const added of [made, to]) if (added !== undefined) tables.add(added);
    }
  }
  expect([...OWNER_OF.keys()].toSorted()).toEqual([...tables].toSorted());
});
