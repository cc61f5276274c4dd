-- Reports that are requested at the end of each period, and mailed to members.
CREATE TABLE report_schedule (
  id            text PRIMARY KEY,                  -- rsc_…
  merchant_id   text NOT NULL REFERENCES merchant,
  environment   text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  kind          text NOT NULL CHECK (kind IN ('payments', 'refunds', 'withdrawals', 'settlements', 'balance')),
  format        text NOT NULL CHECK (format IN ('CSV', 'XLSX', 'JSON', 'PDF')),
  period        text NOT NULL CHECK (period IN ('day', 'week', 'month', 'ethiopianMonth')),
  recipients    text[] NOT NULL CHECK (cardinality(recipients) BETWEEN 1 AND 20),  -- usr_…
  due_at        timestamptz,                       -- of the next report: on the day after its period; null: paused
  created_by    text NOT NULL,                     -- usr_…
  created_at    timestamptz NOT NULL,
  updated_at    timestamptz NOT NULL
);
CREATE INDEX report_schedule_list ON report_schedule (merchant_id, environment, created_at);
CREATE INDEX report_schedule_due ON report_schedule (due_at) WHERE due_at IS NOT NULL;

-- A file that a merchant requested. Its rows are of one snapshot. The file is in the folder of REPORTS_DIR under a
-- random name.
CREATE TABLE report (
  id              text PRIMARY KEY,                -- rpt_…
  merchant_id     text NOT NULL REFERENCES merchant,
  environment     text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  kind            text NOT NULL CHECK (kind IN ('payments', 'refunds', 'withdrawals', 'settlements', 'balance')),
  format          text NOT NULL CHECK (format IN ('CSV', 'XLSX', 'JSON', 'PDF')),
  period          text NOT NULL CHECK (period IN ('day', 'week', 'month', 'quarter', 'custom')),
  start_date      text NOT NULL,                   -- YYYY-MM-DD in Addis Ababa, both included
  end_date        text NOT NULL,
  statuses        text[],                          -- null: all
  channel         text REFERENCES channel,         -- null: all
  narrowing       jsonb,                           -- further filters of the transaction list, as in the API; null: none
  status          text NOT NULL CHECK (status IN ('QUEUED', 'RUNNING', 'READY', 'FAILED', 'CANCELLED', 'EXPIRED')),
  run_id          text,                            -- the run that generates it: an earlier one stops when it differs
  processed_rows  integer NOT NULL DEFAULT 0,
  total_rows      integer NOT NULL,                -- counted at the request, then again at the snapshot
  totals          jsonb,                           -- { "amount": "10050", … }: santim by column
  storage_key     text UNIQUE,
  file_bytes      bigint,
  sha256          text,
  failure         jsonb,                           -- { code, message }
  requested_by    text NOT NULL,                   -- key_…, usr_…
  schedule_id     text,                            -- rsc_…, also of a deleted one; null: requested by hand
  version         integer NOT NULL DEFAULT 1,
  requested_at    timestamptz NOT NULL,
  snapshot_at     timestamptz,
  progressed_at   timestamptz,                     -- when rows were last read, to detect a stalled report
  completed_at    timestamptz,                     -- READY, FAILED or CANCELLED since
  expires_at      timestamptz,
  created_at      timestamptz NOT NULL DEFAULT now(),
  CHECK ((status = 'READY') = (storage_key IS NOT NULL)),
  CHECK ((status IN ('READY', 'EXPIRED')) = (sha256 IS NOT NULL)),
  CHECK ((status = 'FAILED') = (failure IS NOT NULL))
);
CREATE INDEX report_list ON report (merchant_id, environment, requested_at DESC, id DESC);
CREATE INDEX report_open ON report (id) INCLUDE (merchant_id, environment, created_at)
  WHERE status IN ('QUEUED', 'RUNNING');
-- A schedule can change its period: a report of a day and one of the week that begins on it are two.
CREATE UNIQUE INDEX report_scheduled ON report (schedule_id, start_date, end_date) WHERE schedule_id IS NOT NULL;
CREATE INDEX report_expiring ON report (expires_at) WHERE status = 'READY';
