-- A file that a merchant asked for. Its rows are those of one instant; the bytes are in the folder of REPORTS_DIR, under
-- a random name of no meaning.
CREATE TABLE report (
  id            text PRIMARY KEY,                  -- rpt_…
  merchant_id   text NOT NULL REFERENCES merchant,
  environment   text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  kind          text NOT NULL CHECK (kind IN ('payments', 'withdrawals', 'settlements', 'balance')),
  format        text NOT NULL CHECK (format IN ('CSV', 'XLSX', 'JSON', 'PDF')),
  period        text NOT NULL CHECK (period IN ('day', 'week', 'month', 'quarter', 'custom')),
  start_date    text NOT NULL,                     -- YYYY-MM-DD in Addis Ababa, both included
  end_date      text NOT NULL,
  statuses      text[],                            -- null: all
  channel       text REFERENCES channel,           -- null: all
  status        text NOT NULL CHECK (status IN ('QUEUED', 'RUNNING', 'READY', 'FAILED', 'CANCELLED', 'EXPIRED')),
  run           text,                              -- who makes it: another run takes over, and the one before gives up
  rows_done     integer NOT NULL DEFAULT 0,
  rows_total    integer NOT NULL,                  -- counted when it was asked for, then at the snapshot
  snapshot_at   timestamptz,
  totals        jsonb,                             -- { "amount": "10050", … }: santim by column
  stored_as     text UNIQUE,
  file_bytes    bigint,
  sha256        text,
  failure       jsonb,                             -- { code, message }
  requested_by  text NOT NULL,                     -- key_…
  version       integer NOT NULL DEFAULT 1,
  requested_at  timestamptz NOT NULL,
  completed_at  timestamptz,                       -- READY, FAILED or CANCELLED since
  expires_at    timestamptz,
  created_at    timestamptz NOT NULL DEFAULT now(),
  CHECK ((status = 'READY') = (stored_as IS NOT NULL)),
  CHECK ((status IN ('READY', 'EXPIRED')) = (sha256 IS NOT NULL)),
  CHECK ((status = 'FAILED') = (failure IS NOT NULL))
);
CREATE INDEX report_list ON report (merchant_id, environment, requested_at DESC, id DESC);
CREATE INDEX report_open ON report (id) INCLUDE (merchant_id, environment, created_at) WHERE status IN ('QUEUED', 'RUNNING');
CREATE INDEX report_expiring ON report (expires_at) WHERE status = 'READY';
