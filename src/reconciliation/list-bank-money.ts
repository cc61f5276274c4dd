import { rows, type Queryable } from '../lib/db.ts';
import type { Environment } from '../lib/owner.ts';
import { cutPage, offsetOf, type Page } from '../lib/page.ts';
import { BANK_MONEY_COLUMNS, type BankMoneyRow } from './bank-money.ts';

/** What to list; undefined does not narrow. */
export type BankMoneyFilter = {
  environment?: Environment | undefined;
  /** The bank's trace id, of either way, or the provider's own reference. */
  reference?: string | undefined;
  /** Whether unmatched money still waits in suspense. */
  waiting?: boolean | undefined;
};

const MATCHES = `(CAST(:environment AS text) IS NULL OR environment = :environment)
  AND (CAST(:reference AS text) IS NULL OR :reference IN (reference, return_reference))
  AND (CAST(:waiting AS boolean) IS NULL OR (kind = 'UNMATCHED' AND outcome IS NULL AND corrected_at IS NULL) = :waiting)`;

/** What operators have booked of money outside, the newest first. */
export async function listBankMoney(db: Queryable, filter: BankMoneyFilter, page: Page) {
  const { environment = null, reference = null, waiting = null } = filter;
  const values = { environment, reference, waiting };
  const [[count], found] = await Promise.all([
    rows<{ total: number }>(db, `SELECT CAST(count(*) AS integer) AS total FROM bank_money WHERE ${MATCHES}`, values),
    rows<BankMoneyRow & { position: string }>(
      db,
      `SELECT ${BANK_MONEY_COLUMNS}, CAST(booked_at AS text) AS position FROM bank_money
       WHERE ${MATCHES} AND (CAST(:afterId AS text) IS NULL OR (booked_at, id) < (CAST(:afterAt AS timestamptz), :afterId))
       ORDER BY booked_at DESC, id DESC LIMIT :most OFFSET :offset`,
      {
        ...values,
        afterAt: page.after?.at ?? null,
        afterId: page.after?.id ?? null,
        most: page.limit + 1,
        offset: offsetOf(page),
      },
    ),
  ]);
  return cutPage(page, count?.total ?? 0, found);
}
