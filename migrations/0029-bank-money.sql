-- What operators book of money outside, by the reference it has there. Each row has a journal of its own, another when
-- unmatched money leaves suspense, and a mirror of both when it was booked wrongly.
CREATE TABLE bank_money (
  id                text PRIMARY KEY,              -- bkm_…
  environment       text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  kind              text NOT NULL CHECK (kind IN ('TRANSFER', 'UNMATCHED', 'EXCESS')),
  reference         text NOT NULL,                 -- the bank's trace id; of EXCESS the provider's
  channel           text REFERENCES channel,       -- whose it is; of unmatched money, whose it turned out to be
  withdrawal_id     text,                          -- EXCESS: what its provider had paid too much, and owes again
  amount_santim     bigint NOT NULL CHECK (amount_santim > 0),
  ledger_key        text NOT NULL UNIQUE,          -- of the journal that booked it
  booked_at         timestamptz NOT NULL,
  outcome           text CHECK (outcome IN ('PLACED', 'RETURNED')), -- of unmatched money; null: it waits in suspense
  outcome_at        timestamptz,
  return_reference  text,                          -- the bank's trace id of its way back
  corrected_at      timestamptz,                   -- it was booked wrongly, and counts no more
  twin_of           text REFERENCES bank_money,    -- booked before a trace id could be booked only once
  created_at        timestamptz NOT NULL DEFAULT now(),
  CHECK (outcome IS NULL OR kind = 'UNMATCHED'),
  CHECK ((outcome IS NULL) = (outcome_at IS NULL)),
  CHECK ((channel IS NULL) = (kind = 'UNMATCHED' AND outcome IS DISTINCT FROM 'PLACED')),
  CHECK ((return_reference IS NOT NULL) = (outcome IS NOT DISTINCT FROM 'RETURNED')),
  CHECK ((withdrawal_id IS NOT NULL) = (kind = 'EXCESS'))
);

INSERT INTO bank_money (id, environment, kind, reference, channel, amount_santim, ledger_key, booked_at, twin_of)
SELECT id, environment, CASE kind WHEN 'UNMATCHED_MONEY' THEN 'UNMATCHED' ELSE 'TRANSFER' END, resource_id,
       CASE kind WHEN 'PROVIDER_TRANSFER' THEN split_part(key, ':', 3) END, amount_santim, key, at, nullif(first, id)
FROM (
  SELECT 'bkm_' || substr(id, 5) AS id, environment, kind, resource_id, key, amount_santim, at,
         first_value('bkm_' || substr(id, 5)) OVER (PARTITION BY environment, resource_id ORDER BY created_at, id) AS first
  FROM ledger_journal WHERE kind IN ('PROVIDER_TRANSFER', 'UNMATCHED_MONEY')
) booked;

-- What came to the bank is booked once, and so is its way back, and what a payout was too much.
CREATE UNIQUE INDEX bank_money_in ON bank_money (environment, reference)
  WHERE kind <> 'EXCESS' AND corrected_at IS NULL AND twin_of IS NULL;
CREATE UNIQUE INDEX bank_money_out ON bank_money (environment, return_reference)
  WHERE return_reference IS NOT NULL AND corrected_at IS NULL;
CREATE UNIQUE INDEX bank_money_excess ON bank_money (withdrawal_id)
  WHERE withdrawal_id IS NOT NULL AND corrected_at IS NULL;
CREATE INDEX bank_money_reference ON bank_money (reference);
CREATE INDEX bank_money_list ON bank_money (booked_at DESC, id DESC);
CREATE INDEX bank_money_waiting ON bank_money (booked_at, id)
  WHERE kind = 'UNMATCHED' AND outcome IS NULL AND corrected_at IS NULL;
CREATE INDEX bank_money_twin ON bank_money (id) WHERE twin_of IS NOT NULL AND corrected_at IS NULL;

-- Last, for these lock tables that others write.
ALTER TABLE bank_money ADD FOREIGN KEY (withdrawal_id) REFERENCES withdrawal;
-- What the provider said when it was asked about a payout that it lists and that was never sent to it: succeeded, unknown …
ALTER TABLE statement_row ADD COLUMN answer text;
