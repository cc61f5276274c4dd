-- no transaction
-- A schedule can change its period: a report of a day and one of the week that begins on it are two.
DROP INDEX CONCURRENTLY IF EXISTS report_scheduled_period;
CREATE UNIQUE INDEX CONCURRENTLY report_scheduled_period ON report (schedule_id, start_date, end_date)
  WHERE schedule_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS report_scheduled;
