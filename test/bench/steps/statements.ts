import { type Database, openDatabase } from '../../../src/lib/db.ts';
import {
  countConfirmPayment,
  countCreateSession,
  countCreateWithdrawal,
  countDelivery,
  type StatementCount,
} from '../counts.ts';
import type { Bench } from '../fixture.ts';
import type { GoalName } from '../goals.ts';
import type { Row } from '../sheet.ts';

/** Exact numbers of statements, each in a database of its own: a delivery left by one would be sent by the next. */
export async function statements({ stack, sheet }: Bench): Promise<void> {
  const row = sheet.table('Statements, BEGIN and COMMIT not counted');
  const inFreshDatabase = async <T>(count: (db: Database) => Promise<T>): Promise<T> => {
    const { url } = await stack.newDatabase();
    const db = openDatabase({ url, poolMax: 5, applicationName: 'bench' });
    try {
      return await count(db);
    } finally {
      await db.destroy();
    }
  };
  const note = (operation: string, goal: GoalName, { statements: { length } }: StatementCount): Row => {
    sheet.measured(goal, length);
    return { operation, statements: length };
  };
  const session = await inFreshDatabase(countCreateSession);
  row({ ...note('create session', 'createSessionStatements', session), ' ': 'with Idempotency-Key' });
  const { confirmed, afterwards } = await inFreshDatabase(countConfirmPayment);
  const after = `and ${afterwards.statements.length} after the commit, to tell workers and workflow`;
  row({ ...note('confirm payment', 'confirmPaymentStatements', confirmed), ' ': after });
  const withdrawal = await inFreshDatabase(countCreateWithdrawal);
  row(note('create withdrawal', 'createWithdrawalStatements', withdrawal));
  for (const mode of ['failed', 'every'] as const) {
    const count = await inFreshDatabase((db) => countDelivery(db, mode));
    const claims = `and ${count.emptyClaims} claims without a row`;
    row({ ...note(`first-try delivery, mode "${mode}"`, 'deliveryStatements', count), ' ': claims });
  }
}
