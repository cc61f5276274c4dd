import { type Database, isDatabaseUnavailable, openDatabase } from '../../lib/db.ts';
import type { Logger } from '../../lib/log.ts';
import { findMerchant } from '../../merchants/operations.ts';
import { ABYSSINIA } from './demo.ts';

/** Throws when the database holds demo data: production must not mix invented money with real money. */
export async function rejectDemoData(db: Database): Promise<void> {
  const merchant = await findMerchant(db, ABYSSINIA.scope.merchantId);
  if (!merchant) return;
  throw new Error(
    `MESKOT_MODE=production refuses to start: the database holds demo data (${merchant.id}). Use another database.`,
  );
}

/** The same for a starting process, which starts even if the database is unavailable or not migrated yet. */
export async function rejectDemoDataAt(databaseUrl: string, log: Logger): Promise<void> {
  const db = openDatabase({ url: databaseUrl, poolMax: 1, applicationName: 'meskot-start' });
  try {
    await rejectDemoData(db);
  } catch (error) {
    if (!isDatabaseUnavailable(error) && !isMissingTable(error)) throw error;
    log.warn('The check for demo data was skipped: the database is unavailable or not migrated');
  } finally {
    await db.destroy();
  }
}

const UNDEFINED_TABLE = '42P01';
const isMissingTable = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === UNDEFINED_TABLE;
