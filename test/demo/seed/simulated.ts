import { UNKNOWN_PAYMENT_SANTIM, writeSimulatorHistory } from '../../../src/demo/seed/simulator-history.ts';
import { rows, type Queryable } from '../../../src/lib/db.ts';
import { formatBirr } from '../../../src/lib/money.ts';
import { startTestSimulator } from '../../support/simulator.ts';

/** Asserts that a simulator with the demo's history owes on each channel what the ledger has, and one payment more on one. */
export async function expectSimulatorOwes(db: Queryable, stateFile: string): Promise<void> {
  await writeSimulatorHistory(db, stateFile);
  const simulator = await startTestSimulator({ stateFile });
  try {
    const owed = await rows<{ channel: 'TELEBIRR' | 'CBE_BIRR' | 'AWASH'; santim: bigint }>(
      db,
      `SELECT a.channel, CAST(-sum(e.amount_santim) AS bigint) AS santim FROM ledger_entry e
       JOIN ledger_account a ON a.id = e.account_id WHERE a.kind = 'CHANNEL_CLEARING' GROUP BY a.channel`,
    );
    expect(owed).toHaveLength(3);
    for (const { channel, santim } of owed) {
      const more = channel === 'AWASH' ? UNKNOWN_PAYMENT_SANTIM : 0n;
      expect((await simulator.totalsOf(channel)).unpaid).toBe(formatBirr(santim + more));
    }
  } finally {
    await simulator.close();
  }
}
