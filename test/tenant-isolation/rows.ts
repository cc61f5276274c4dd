import { type Database, rows } from '../../src/lib/db.ts';

/** When keys and sessions were last used, and until when that prolongs a session: every request may change it. */
const USE = `ARRAY['last_used_at', 'idle_until', 'live_until']`;

/**
 * The rows of all tables, or only those of one merchant; without what every request changes, refused or not (the log of
 * requests, and the use of keys and sessions), and without the workers' locks.
 */
export async function readRows(db: Database, merchantId?: string): Promise<Record<string, string[]>> {
  const tables = await rows<{ name: string; owned: boolean }>(
    db,
    `SELECT t.table_name AS name, EXISTS (
       SELECT 1 FROM information_schema.columns c
       WHERE c.table_schema = 'public' AND c.table_name = t.table_name AND c.column_name = 'merchant_id'
     ) AS owned
     FROM information_schema.tables t
     WHERE t.table_schema = 'public' AND t.table_name NOT LIKE 'knex%'
       AND t.table_name NOT IN ('request_log', 'workflow_recovery')`,
    {},
  );
  const found: Record<string, string[]> = {};
  for (const { name, owned } of tables) {
    if (merchantId !== undefined && !owned) continue;
    const where = merchantId === undefined ? '' : 'WHERE merchant_id = :merchantId';
    const all = await rows<{ row: string }>(
      db,
      `SELECT (to_jsonb(t) - ${USE})::text AS row FROM ${name} t ${where} ORDER BY 1`,
      {
        ...(merchantId !== undefined && { merchantId }),
      },
    );
    found[name] = all.map(({ row }) => row);
  }
  return found;
}
