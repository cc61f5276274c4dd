import { type Database, openDatabase } from '../../../src/lib/db.ts';
import {
  countConfirmPayment,
  countCreateSession,
  countCreateWithdrawal,
  countDelivery,
  type Asked,
} from '../counts.ts';
import type { GoalName } from '../goals.ts';
import type { Row } from '../sheet.ts';
import type { Bench } from '../world.ts';

/** Statements as exact counts, each in a database of its own: what one leaves waiting, the next one would deliver. */
export async function statements({ ground, sheet }: Bench): Promise<void> {
  const row = sheet.table('Statements, BEGIN and COMMIT not counted');
  const inFreshDatabase = async <T>(count: (db: Database) => Promise<T>): Promise<T> => {
    const { url } = await ground.newDatabase();
    const db = openDatabase({ url, poolMax: 5, applicationName: 'bench' });
    try {
      return await count(db);
    } finally {
      await db.destroy();
    }
  };
  const note = (operation: string, goal: GoalName, { statements: { length } }: Asked): Row => {
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
    const asked = await inFreshDatabase((db) => countDelivery(db, mode));
    const looks = `and ${asked.emptyLooks} looks for more that found nothing`;
    row({ ...note(`first-try delivery, mode "${mode}"`, 'deliveryStatements', asked), ' ': looks });
  }
}
