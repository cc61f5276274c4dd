import type { Queryable } from '../../lib/db.ts';
import { paginateNewest } from '../../lib/paginate-newest.ts';
import type { Page } from '../../lib/pagination.ts';
import type { Environment } from '../../lib/scope.ts';
import { BANK_RECEIPT_COLUMNS, type BankReceiptRow } from './record.ts';

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
  AND (CAST(:waiting AS boolean) IS NULL OR (kind = 'UNALLOCATED' AND outcome IS NULL AND reversed_at IS NULL) = :waiting)`;

/** What operators have booked of money outside, the newest first. */
export async function listBankMoney(db: Queryable, filter: BankMoneyFilter, page: Page) {
  const { environment = null, reference = null, waiting = null } = filter;
  const values = { environment, reference, waiting };
  const listed = { columns: BANK_RECEIPT_COLUMNS, table: 'bank_receipt', time: 'booked_at', where: MATCHES, values };
  return paginateNewest<BankReceiptRow>(db, listed, page);
}
