import type { Database } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { claimOne } from '../../src/webhooks/delivery/claim.ts';
import { recordAttempts } from '../../src/webhooks/delivery/record-attempt.ts';

/** Records an attempt that gets 503, and is the last one unless a retry follows. */
export async function failDelivery(db: Database, deliveryId: string, { isLast = true } = {}): Promise<void> {
  const claimed = await claimOne(db, { deliveryId, startedAt: new Date(), reclaim: true });
  const at = new Date().toISOString();
  const outcome = {
    ...claimed!,
    ok: false,
    httpStatus: 503,
    failure: { code: 'http_status', message: 'The receiver returned 503.' } as const,
    startedAt: at,
    endedAt: at,
    durationMs: 7,
    timings: {},
    responseHeaders: {},
    responseExcerpt: 'x'.repeat(5_000),
    answer: '',
    nextAttemptAt: isLast ? null : new Date(Date.now() + 60_000).toISOString(),
    deadLetterId: newId('whl'),
  };
  await recordAttempts(db, [outcome]);
}
