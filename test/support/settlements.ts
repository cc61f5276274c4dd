import { type Database, rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { createWithdrawal } from '../../src/payouts/withdrawals/create.ts';
import type { WithdrawalRow } from '../../src/payouts/withdrawals/queries.ts';
import { linkBankAccount } from '../../src/settlements/bank-account/account.ts';
import { createSettlement, type NewSettlement } from '../../src/settlements/create.ts';
import type { SettlementRow } from '../../src/settlements/queries.ts';
import type { Fixture } from './build.ts';

export const ACCOUNT = {
  bankCode: 'CBE',
  accountNumber: '1000123456789',
  accountName: 'Abyssinia Coffee PLC',
} as const;

/** Links the account that receives settlements. */
export async function linkAccount(
  fixture: Pick<Fixture, 'runInTransaction' | 'clock'>,
  scope: MerchantScope,
): Promise<void> {
  const wanted = { ...ACCOUNT, requestedBy: 'key_test', at: fixture.clock() };
  await fixture.runInTransaction((tx) => linkBankAccount(tx, scope, wanted));
}

let requests = 0;

/** Requests a settlement like the API: 150 ETB by default. */
export async function requestSettlement(
  fixture: Pick<Fixture, 'runInTransaction' | 'clock'>,
  scope: MerchantScope,
  wanted: Partial<NewSettlement> = {},
): Promise<SettlementRow> {
  requests += 1;
  const asked = { requestId: `SETTLE-${requests}`, amount: 150_00n, requestedBy: 'key_test', ...wanted };
  const { row } = await fixture.runInTransaction((tx) => createSettlement({ tx, clock: fixture.clock }, scope, asked));
  return row;
}

/** Requests a withdrawal of 10 ETB by default; its fee and tax are added. */
export async function withdraw(fixture: Fixture, scope: MerchantScope, amountSantim = 10_00n): Promise<WithdrawalRow> {
  requests += 1;
  const wanted = {
    requestId: `OUT-${requests}`,
    amountSantim,
    channel: 'TELEBIRR',
    destination: { kind: 'phone', phone: '251911000001', accountName: 'Abebe Bikila' },
    requestedBy: 'key_test',
  } as const;
  const { row } = await fixture.runInTransaction((tx) => createWithdrawal({ ...fixture, tx }, scope, wanted));
  return row;
}

/** The state of a settlement with its events, timeline and journals. */
export async function stateOfSettlement(db: Database, settlementId: string) {
  const [row] = await rows<Record<string, unknown>>(
    db,
    `SELECT s.status, s.version, s.overdue_at IS NOT NULL AS overdue, CAST(s.expected_until AS text) AS expected_until,
            (SELECT array_agg(e.event ORDER BY CAST(convert_from(e.payload, 'UTF8') AS jsonb) #> '{data,version}') FROM webhook_event e WHERE e.resource_id = s.id) AS events,
            (SELECT array_agg(l.kind ORDER BY l.id) FROM timeline l WHERE l.resource_id = s.id) AS timeline,
            (SELECT array_agg(j.kind ORDER BY j.created_at) FROM ledger_journal j WHERE j.resource_id = s.id) AS journals
     FROM settlement s WHERE s.id = :settlementId`,
    { settlementId },
  );
  if (!row) throw new Error(`no settlement ${settlementId}`);
  return row;
}
