-- One day of one channel, compared with the provider's statements. A repeated run updates the same row: import_no counts
-- the imports that were started.
CREATE TABLE reconciliation (
  id                        text PRIMARY KEY,      -- sandbox-TELEBIRR-2026-11-20
  environment               text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  channel                   text NOT NULL REFERENCES channel,
  day                       date NOT NULL,         -- in Addis Ababa
  status                    text NOT NULL DEFAULT 'INCOMPLETE' CHECK (status IN ('INCOMPLETE', 'DISCREPANCIES', 'CLEAN')),
  is_running                boolean NOT NULL,      -- requested, and its workflow has not ended
  error                     text,                  -- why it is stalled or was abandoned
  requests                  integer NOT NULL DEFAULT 0, -- how often the day was requested
  requests_at_start         integer NOT NULL DEFAULT 0, -- of these, before the current import started
  import_no                 integer NOT NULL DEFAULT 0,
  comparison_no             integer NOT NULL DEFAULT 0, -- counts the comparisons that were started
  -- { payments, payouts, reversals, refunds }, each { count, santim } of its orders: those the provider lists, and those booked
  -- for them or booked on that day.
  listed                    jsonb,
  booked                    jsonb,
  clearing_santim           bigint,                -- the provider's debt in the ledger at the end of the day
  requested_at              timestamptz NOT NULL,
  import_started_at         timestamptz,
  compared_at               timestamptz,
  last_clean_at             timestamptz,
  created_at                timestamptz NOT NULL DEFAULT now(),
  UNIQUE (environment, channel, day)
);
CREATE INDEX reconciliation_list ON reconciliation (day);
CREATE INDEX reconciliation_running ON reconciliation (id) WHERE is_running;
-- Days that could not be compared, for the operators' work queue.
CREATE INDEX reconciliation_failed ON reconciliation (id) WHERE status = 'INCOMPLETE' AND NOT is_running;

-- The statement of one of our accounts for such a day: one that cannot be read leaves the others unaffected.
CREATE TABLE reconciliation_statement (
  reconciliation_id         text NOT NULL REFERENCES reconciliation,
  account                   text NOT NULL,         -- by the provider's name; '' in the sandbox
  import_no                 integer NOT NULL,      -- the latest import, to which the position belongs
  completed_import_no       integer NOT NULL DEFAULT 0, -- the last import that reached its end
  cursor                    text,                  -- where the import continues
  loop_guard                text,                  -- an earlier cursor: a statement that returns to it never ends
  pages                     integer NOT NULL DEFAULT 0, -- of the latest import, so far
  failures                  integer NOT NULL DEFAULT 0, -- of the latest import, so far
  error                     text,                  -- why it is delayed, or was left out
  first_import_started_at   timestamptz,           -- of the first complete import after the end of the day
  last_import_started_at    timestamptz,           -- of the last complete import
  PRIMARY KEY (reconciliation_id, account)
);
CREATE INDEX reconciliation_statement_failed ON reconciliation_statement (reconciliation_id) WHERE error IS NOT NULL;

-- Its rows as imported. Rows that a later import does not contain stay, but no longer count. The key contains the amount, since an order may be listed twice under one reference with two amounts.
CREATE TABLE statement_row (
  reconciliation_id   text NOT NULL,
  type                text NOT NULL CHECK (type IN ('payment', 'payout', 'payoutReversal', 'refund')),
  order_id            text NOT NULL,               -- as the provider has it: pat_…, wd_…, or unknown to us
  account             text NOT NULL,
  provider_reference  text NOT NULL,
  amount_santim       bigint NOT NULL CHECK (amount_santim >= 0),
  currency            text NOT NULL,
  import_no           integer NOT NULL,            -- the latest import that contains it
  provider_response   text,                        -- to a query about a listed payout that was never sent: succeeded …
  occurred_at         timestamptz NOT NULL,
  created_at          timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (reconciliation_id, type, order_id, account, provider_reference, amount_santim, currency),
  FOREIGN KEY (reconciliation_id, account) REFERENCES reconciliation_statement
);
CREATE INDEX statement_row_order ON statement_row (order_id, type);

-- The rows that count: those of the last complete import of each account and of the one in progress.
CREATE VIEW current_statement_row AS
  SELECT r.environment, r.channel, r.day, s.reconciliation_id, s.type, s.order_id, s.account, s.provider_reference,
         s.amount_santim, s.currency, s.import_no, s.occurred_at, s.created_at
  FROM statement_row s JOIN reconciliation r ON r.id = s.reconciliation_id
  JOIN reconciliation_statement t ON t.reconciliation_id = s.reconciliation_id AND t.account = s.account
  WHERE s.import_no >= t.completed_import_no;

-- A discrepancy that reappears after it vanished is another row. One that an operator has closed reappears only with
-- other figures.
CREATE TABLE reconciliation_discrepancy (
  id                  text PRIMARY KEY,            -- rcd_…
  reconciliation_id   text NOT NULL REFERENCES reconciliation,
  environment         text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  channel             text NOT NULL REFERENCES channel,
  day                 date NOT NULL,
  kind                text NOT NULL CHECK (kind IN
    ('UNKNOWN_ORDER', 'UNCONFIRMED', 'AMOUNT_MISMATCH', 'MISSING_FROM_STATEMENT')),
  type                text NOT NULL CHECK (type IN ('payment', 'payout', 'payoutReversal', 'refund')),
  order_id            text NOT NULL,
  account             text NOT NULL DEFAULT '',    -- whose statement lists the order or should list it
  order_status          text,
  booked_santim          bigint,
  listed_santim        bigint,
  listed_currency      text,
  provider_reference  text,
  comparison_no       integer NOT NULL DEFAULT 0,  -- the latest that found it; what it did not find is closed
  closed_by           text,                        -- opr_…; null: it vanished
  resolution_note     text,                        -- the operator's reason, or why it vanished
  detected_at         timestamptz NOT NULL,
  closed_at           timestamptz,
  created_at          timestamptz NOT NULL DEFAULT now(),
  CHECK ((closed_at IS NULL) = (resolution_note IS NULL)),
  CHECK (closed_by IS NULL OR closed_at IS NOT NULL)
);
CREATE UNIQUE INDEX reconciliation_discrepancy_open
  ON reconciliation_discrepancy (reconciliation_id, kind, type, order_id, account) WHERE closed_at IS NULL;
CREATE INDEX reconciliation_discrepancy_found
  ON reconciliation_discrepancy (reconciliation_id, comparison_no) WHERE closed_at IS NULL;
CREATE INDEX reconciliation_discrepancy_day ON reconciliation_discrepancy (reconciliation_id, order_id);
CREATE INDEX reconciliation_discrepancy_list ON reconciliation_discrepancy (detected_at DESC, id DESC);
-- The operators' work queue, the oldest first.
CREATE INDEX reconciliation_discrepancy_waiting ON reconciliation_discrepancy (detected_at, id) WHERE closed_at IS NULL;

-- Money movements outside our system that operators book by their external reference. Each row has a journal, another
-- one when unallocated money leaves suspense, and a reversal of each if it was booked by mistake.
CREATE TABLE bank_receipt (
  id                text PRIMARY KEY,              -- rcp_…
  environment       text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  kind              text NOT NULL CHECK (kind IN ('REMITTANCE', 'UNALLOCATED', 'RECOVERY')),
  reference         text NOT NULL,                 -- the bank's trace id; of a RECOVERY the provider's reference
  channel           text REFERENCES channel,       -- the payer; of unallocated money null until it is allocated
  withdrawal_id     text REFERENCES withdrawal,    -- of a RECOVERY: the overpaid payout, whose excess the provider owes,
  refund_id         text REFERENCES refund,        -- or the overpaid refund
  amount_santim     bigint NOT NULL CHECK (amount_santim > 0),
  outcome           text CHECK (outcome IN ('ALLOCATED', 'RETURNED')), -- of unallocated money; null: in suspense
  return_reference  text,                          -- the bank's trace id of the returned money
  booked_at         timestamptz NOT NULL,
  outcome_at        timestamptz,
  reversed_at       timestamptz,                   -- booked by mistake, no longer counts
  created_at        timestamptz NOT NULL DEFAULT now(),
  CHECK (outcome IS NULL OR kind = 'UNALLOCATED'),
  CHECK ((outcome IS NULL) = (outcome_at IS NULL)),
  CHECK ((channel IS NULL) = (kind = 'UNALLOCATED' AND outcome IS DISTINCT FROM 'ALLOCATED')),
  CHECK ((return_reference IS NOT NULL) = (outcome IS NOT DISTINCT FROM 'RETURNED')),
  CHECK (num_nonnulls(withdrawal_id, refund_id) = CASE kind WHEN 'RECOVERY' THEN 1 ELSE 0 END)
);
-- One recovery for each overpaid payout. References are unique in external_reference.
CREATE UNIQUE INDEX bank_receipt_recovery ON bank_receipt (withdrawal_id)
  WHERE withdrawal_id IS NOT NULL AND reversed_at IS NULL;
CREATE UNIQUE INDEX bank_receipt_refund_recovery ON bank_receipt (refund_id)
  WHERE refund_id IS NOT NULL AND reversed_at IS NULL;
CREATE INDEX bank_receipt_reference ON bank_receipt (reference);
CREATE INDEX bank_receipt_list ON bank_receipt (booked_at DESC, id DESC);
CREATE INDEX bank_receipt_waiting ON bank_receipt (booked_at, id)
  WHERE kind = 'UNALLOCATED' AND outcome IS NULL AND reversed_at IS NULL;
