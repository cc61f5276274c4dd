-- A channel's day, compared with what its provider lists of it. Read again it is the same row: `reading` counts the
-- readings that were begun, `read` is the last one that came to the list's end.
CREATE TABLE reconciliation (
  id                      text PRIMARY KEY,        -- sandbox-TELEBIRR-2026-11-20
  environment             text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  channel                 text NOT NULL REFERENCES channel,
  day                     date NOT NULL,           -- in Addis Ababa
  status                  text NOT NULL DEFAULT 'INCOMPLETE' CHECK (status IN ('INCOMPLETE', 'DIFFERENCES', 'CLEAN')),
  open                    boolean NOT NULL,        -- asked for, and its workflow has not ended it yet
  reading                 integer NOT NULL DEFAULT 0,
  read                    integer NOT NULL DEFAULT 0,
  cursor                  text,                    -- where the reading goes on
  pages                   integer NOT NULL DEFAULT 0, -- of this reading, so far
  begun_at                timestamptz,             -- when this reading began
  read_begun_at           timestamptz,             -- when the last complete one began
  -- Of each side, orders and santim: what the provider lists, and what is booked of that or was booked that day.
  their_payments          integer, their_payments_santim   bigint,
  our_payments            integer, our_payments_santim     bigint,
  their_payouts           integer, their_payouts_santim    bigint,
  our_payouts             integer, our_payouts_santim      bigint,
  their_reversals         integer, their_reversals_santim  bigint,
  our_reversals           integer, our_reversals_santim    bigint,
  clearing_santim         bigint,                  -- what the provider owed by the ledger at the end of the day
  asked_at                timestamptz NOT NULL,
  compared_at             timestamptz,
  clean_at                timestamptz,             -- when it was last found clean
  created_at              timestamptz NOT NULL DEFAULT now(),
  UNIQUE (environment, channel, day)
);
CREATE INDEX reconciliation_open ON reconciliation (id) WHERE open;
CREATE INDEX reconciliation_list ON reconciliation (day);

-- The providers' lists as they were read. Rows that a later reading did not find are kept, and count no more.
CREATE TABLE statement_row (
  reconciliation_id   text NOT NULL REFERENCES reconciliation,
  type                text NOT NULL CHECK (type IN ('payment', 'payout', 'payoutReversal')),
  order_id            text NOT NULL,               -- as the provider writes it: pat_…, wd_…, or nobody's
  provider_reference  text NOT NULL,
  amount_santim       bigint NOT NULL CHECK (amount_santim >= 0),
  currency            text NOT NULL,
  at                  timestamptz NOT NULL,
  reading             integer NOT NULL,            -- the latest that found it
  created_at          timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (reconciliation_id, type, order_id, provider_reference)
);
CREATE INDEX statement_row_order ON statement_row (order_id, type);

-- The rows that count: of the last complete reading, and of the one under way.
CREATE VIEW listed_row AS
  SELECT l.*, r.environment, r.channel, r.day FROM statement_row l JOIN reconciliation r ON r.id = l.reconciliation_id
  WHERE l.reading >= r.read;

-- What differs. One that is found again after it vanished is another row; one that an operator has closed comes back
-- only with other figures.
CREATE TABLE reconciliation_difference (
  id                  text PRIMARY KEY,            -- rcd_…
  reconciliation_id   text NOT NULL REFERENCES reconciliation,
  environment         text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  channel             text NOT NULL REFERENCES channel,
  day                 date NOT NULL,
  kind                text NOT NULL CHECK (kind IN ('UNKNOWN_ORDER', 'NOT_CONFIRMED', 'AMOUNT_DIFFERS', 'NOT_LISTED')),
  type                text NOT NULL CHECK (type IN ('payment', 'payout', 'payoutReversal')),
  order_id            text NOT NULL,
  our_status          text,
  our_santim          bigint,
  their_santim        bigint,
  their_currency      text,
  provider_reference  text,
  since               timestamptz NOT NULL,
  closed_at           timestamptz,
  closed_by           text,                        -- opr_…; null when it vanished by itself
  note                text,                        -- the operator's reason, or why it vanished
  created_at          timestamptz NOT NULL DEFAULT now(),
  CHECK ((closed_at IS NULL) = (note IS NULL)),
  CHECK (closed_by IS NULL OR closed_at IS NOT NULL)
);
CREATE UNIQUE INDEX reconciliation_difference_open
  ON reconciliation_difference (reconciliation_id, kind, type, order_id) WHERE closed_at IS NULL;
CREATE INDEX reconciliation_difference_day ON reconciliation_difference (reconciliation_id, order_id);
CREATE INDEX reconciliation_difference_list ON reconciliation_difference (since DESC, id DESC);
-- What waits for operators, the longest first.
CREATE INDEX reconciliation_difference_waiting ON reconciliation_difference (since, id) WHERE closed_at IS NULL;
