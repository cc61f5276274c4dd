import { isDatabaseUnavailable } from '../../lib/db-errors.ts';
import { openDatabase } from '../../lib/db.ts';
import type { Logger } from '../../lib/log.ts';
import { findMerchant } from '../../merchants/operations.ts';
import { ABYSSINIA } from './demo.ts';

const UNDEFINED_TABLE = '42P01';

/**
 * Throws when the database holds demo data: production must not mix invented money with real money. A starting process
 * goes on when the database is unavailable or not migrated yet.
 */
export async function rejectDemoDataAt(databaseUrl: string, log: Logger): Promise<void> {
  const db = openDatabase({ url: databaseUrl, poolMax: 1, applicationName: 'meskot-start' });
  try {
    const merchant = await findMerchant(db, ABYSSINIA.scope.merchantId);
    if (!merchant) return;
    throw new Error(
      `MESKOT_MODE=production refuses to start: the database holds demo data (${merchant.id}). Use another database.`,
    );
  } catch (error) {
    const isMissingTable = error instanceof Error && 'code' in error && error.code === UNDEFINED_TABLE;
    if (!isDatabaseUnavailable(error) && !isMissingTable) throw error;
    log.warn('The check for demo data was skipped: the database is unavailable or not migrated');
  } finally {
    await db.destroy();
  }
}
