import type { Queryable } from '../lib/db.ts';
import { paginateNewest } from '../lib/paginate-newest.ts';
import type { Page } from '../lib/pagination.ts';
import type { Merchant } from './operations.ts';

/** What to list; undefined and null do not narrow. */
export type MerchantFilter = {
  statuses?: readonly Merchant['status'][] | null | undefined;
  kycStatuses?: readonly Merchant['kycStatus'][] | null | undefined;
  /** An id, whole, or a part of the name in any case. */
  search?: string | undefined;
};

const MATCHES = `(CAST(:statuses AS text[]) IS NULL OR status = ANY (:statuses))
  AND (CAST(:kycStatuses AS text[]) IS NULL OR kyc_status = ANY (:kycStatuses))
  AND (CAST(:search AS text) IS NULL OR id = :search OR strpos(lower(name), lower(:search)) > 0)`;

/** Merchants that match, the newest first. */
export async function searchMerchants(db: Queryable, filter: MerchantFilter, page: Page) {
  const values = {
    statuses: filter.statuses ? [...filter.statuses] : null,
    kycStatuses: filter.kycStatuses ? [...filter.kycStatuses] : null,
    search: filter.search ?? null,
  };
  const columns = 'id, name, status, kyc_status, created_at';
  return paginateNewest<Merchant>(db, { columns, table: 'merchant', time: 'created_at', where: MATCHES, values }, page);
}
