import type pg from 'pg';

/** Inserts the platform's usual fees, VAT included, of channels without any: 2.5 % of payments and 5 birr of payouts. */
export async function insertMissingFees(client: Pick<pg.Client, 'query'>): Promise<void> {
  await client.query(
    `INSERT INTO fee_rule (id, channel, direction, basis_points, fixed_santim, tax_basis_points, valid_from, version)
     SELECT 'fee_' || direction || '_' || c.id, c.id, direction, basis_points, fixed_santim, 1500,
            timestamptz '2020-01-01T00:00:00Z', 1
     FROM channel c, (VALUES ('PAY_IN', 250, 0), ('PAY_OUT', 0, 500)) AS usual (direction, basis_points, fixed_santim)
     WHERE NOT EXISTS (SELECT FROM fee_rule f WHERE f.merchant_id IS NULL AND f.channel = c.id)`,
  );
}
