import { rows, type Queryable } from '../lib/db.ts';
import { cutPage, offsetOf, type Page } from '../lib/page.ts';
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
  const [[count], found] = await Promise.all([
    rows<{ total: number }>(db, `SELECT count(*)::int AS total FROM merchant WHERE ${MATCHES}`, values),
    rows<Merchant & { position: string }>(
      db,
      `SELECT id, name, status, kyc_status, created_at, created_at::text AS position FROM merchant
       WHERE ${MATCHES}
         AND (CAST(:afterId AS text) IS NULL OR (created_at, id) < (CAST(:afterAt AS timestamptz), :afterId))
       ORDER BY created_at DESC, id DESC LIMIT :most OFFSET :offset`,
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
