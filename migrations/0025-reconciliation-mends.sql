-- What a comparison of a day needs to lose nothing, and to end.
ALTER TABLE reconciliation
  ADD COLUMN asks                integer NOT NULL DEFAULT 0, -- how often the day was asked for
  ADD COLUMN asks_begun          integer NOT NULL DEFAULT 0, -- how often it had been when this reading began
  ADD COLUMN comparison          integer NOT NULL DEFAULT 0, -- counts the comparisons that were begun
  ADD COLUMN cursor_mark         text,                       -- an earlier cursor: a list that comes to it again leads in a circle
  ADD COLUMN first_read_begun_at timestamptz,                -- when the first complete reading after the day's end began
  ADD COLUMN problem             text;                       -- why it does not go on, or was given up; null while all is well

-- What is found is written in steps: those that the latest comparison did not find are gone when it ends.
ALTER TABLE reconciliation_difference ADD COLUMN comparison integer NOT NULL DEFAULT 0; -- the latest that found it
CREATE INDEX reconciliation_difference_found
  ON reconciliation_difference (reconciliation_id, comparison) WHERE closed_at IS NULL;
-- Days that could not be compared, and wait for an operator.
CREATE INDEX reconciliation_failed ON reconciliation (id) WHERE status = 'INCOMPLETE' AND NOT open;
