-- no transaction
-- What 0029 and 0034 need of tables that have rows. Half an index of an earlier try goes first.
DROP INDEX CONCURRENTLY IF EXISTS withdrawal_excess;
CREATE INDEX CONCURRENTLY withdrawal_excess ON withdrawal (id) WHERE paid_santim > amount_santim;
DROP INDEX CONCURRENTLY IF EXISTS statement_row_listed;
CREATE UNIQUE INDEX CONCURRENTLY statement_row_listed
  ON statement_row (reconciliation_id, type, order_id, provider_reference, amount_santim, currency);
