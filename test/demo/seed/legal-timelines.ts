import { rows, type Queryable } from '../../../src/lib/db.ts';
import type { TimelineKinds } from '../../../src/lib/timeline.ts';
import { TIMELINE as APPLICATION } from '../../../src/merchants/kyc/schema.ts';
import type { SessionStatus } from '../../../src/payments/states.ts';
import { TIMELINE as TRANSACTION } from '../../../src/payments/timeline.ts';
import { TIMELINE as WITHDRAWAL } from '../../../src/payouts/withdrawals/schema.ts';
import { TIMELINE as SETTLEMENT } from '../../../src/settlements/schema.ts';

const TRY = String.raw`attempt\.started( provider\.responded)?`;
const DECLINED = `(${TRY} attempt\\.declined )*`;

const REFUNDED = String.raw`( refund\.created refund\.submitted refund\.responded refund\.(succeeded|failed))?`;

/** The legal timelines by the session's status. */
export const LEGAL: Readonly<Record<SessionStatus, RegExp>> = {
  OPEN: new RegExp(`^session\\.created( ${TRY} attempt\\.declined)*$`),
  PROCESSING: new RegExp(`^session\\.created ${TRY} payment\\.held$`),
  COMPLETED: new RegExp(
    `^session\\.created ${DECLINED}${TRY} (session\\.(expired|cancelled) )?payment\\.succeeded${REFUNDED}$`,
  ),
  FAILED: new RegExp(`^session\\.created ${DECLINED}${TRY} attempt\\.declined$`),
  CANCELLED: new RegExp(`^session\\.created ${DECLINED}(${TRY} )?session\\.cancelled$`),
  EXPIRED: new RegExp(`^session\\.created ${DECLINED}(${TRY} )?session\\.expired$`),
};

/** The kinds of all entries, by the prefix of the id of their resource. */
const KINDS: Readonly<Record<string, TimelineKinds>> = {
  txn: TRANSACTION,
  wd: WITHDRAWAL,
  stl: SETTLEMENT,
  mrc: APPLICATION,
};

/** Entries of a kind that their aggregate does not declare, or with another `detail`. */
export async function undeclaredEntries(db: Queryable): Promise<unknown[]> {
  const entries = await rows<{ prefix: string; kind: string; detail: unknown }>(
    db,
    `SELECT DISTINCT split_part(resource_id, '_', 1) AS prefix, kind, detail FROM timeline`,
  );
  return entries.filter(({ prefix, kind, detail }) => {
    const declared = KINDS[prefix]?.[kind];
    return declared === undefined || !declared.detail.strict().safeParse(detail).success;
  });
}
