-- What operators say became of a withdrawal whose provider leaves it open, or contradicts itself.
ALTER TABLE withdrawal
  ADD COLUMN paid_santim bigint CHECK (paid_santim > 0),           -- paid, where that is another amount than was asked for
  ADD COLUMN contradiction_ended_at timestamptz;                   -- an operator has looked into it

-- One word of each operator, about the withdrawal as it stood in that version: it counts for no later one.
CREATE TABLE withdrawal_resolution (
  withdrawal_id       text NOT NULL REFERENCES withdrawal,
  version             integer NOT NULL,
  operator_id         text NOT NULL,               -- opr_…
  outcome             text NOT NULL CHECK (outcome IN ('COMPLETED', 'FAILED')),
  provider_reference  text NOT NULL,               -- the provider's, of the payout or of its word
  paid_santim         bigint NOT NULL CHECK (paid_santim >= 0),
  reason              text NOT NULL,
  applied             boolean NOT NULL DEFAULT false,  -- as many as were needed have said the same
  at                  timestamptz NOT NULL,
  created_at          timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (withdrawal_id, version, operator_id)
);
