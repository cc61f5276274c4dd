-- Outgoing money in one table: withdrawals of merchants' balances, and refunds of payments. The amount and the fee are reserved
-- in the ledger while a payout is PENDING.
--
-- The running release writes to these meanwhile: what it commits after the rows are copied would be lost.
LOCK TABLE withdrawal, refund, withdrawal_approval, withdrawal_resolution, payout_case, provider_callback, bank_receipt
  IN ACCESS EXCLUSIVE MODE;

CREATE TABLE payout (
  id                      text PRIMARY KEY,        -- wd_… or rfd_…, also the idempotency key at the provider
  kind                    text NOT NULL CHECK (kind IN ('withdrawal', 'refund')),
  merchant_id             text NOT NULL REFERENCES merchant,
  environment             text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  reference               text NOT NULL,           -- the merchant's own; never reused
  amount_santim           bigint NOT NULL CHECK (amount_santim > 0),
  -- Of a refund, what is given back of the payment's fee and its tax: 0 or below, as the ledger posts it.
  fee_santim              bigint NOT NULL,
  fee_tax_santim          bigint NOT NULL,
  currency                text NOT NULL CHECK (currency IN ('ETB')),
  channel                 text NOT NULL REFERENCES channel,
  reason                  text,
  status                  text NOT NULL,
  stage                   text NOT NULL,
  requested_by            text NOT NULL,           -- key_… or usr_…: cannot confirm, approve or resolve it
  confirmed_by            text,                    -- usr_…: the second person of the merchant, where one was needed
  confirmed_at            timestamptz,
  provider_account        text,                    -- our account there by which a live one is sent; of a refund, which was paid
  provider_reference      text,
  provider_code           text,
  last_outcome            text,                    -- the provider's latest: accepted, pending, unknown …
  paid_santim             bigint CHECK (paid_santim > 0), -- if the provider paid another amount than requested
  failure                 jsonb,                   -- { code, message, providerCode, retryable }
  callback_secret         text NOT NULL UNIQUE,
  version                 integer NOT NULL DEFAULT 1,
  lease_until             timestamptz,             -- a process is querying the provider
  last_checked_at         timestamptz,
  requested_at            timestamptz NOT NULL,
  submitted_at            timestamptz,
  -- The provider's first report of success that was not booked, because of another amount or after it had declined: a later
  -- report of failure then releases nothing, and nothing is sent again.
  first_reported_paid_at  timestamptz,
  completed_at            timestamptz,             -- no longer PENDING since
  created_at              timestamptz NOT NULL DEFAULT now(),
  -- Of withdrawals: where to, and what the decision about them was based on.
  phone                   text,                    -- of a payout to a phone: 2519…
  bank_code               text,                    -- of a payout to a bank account
  account_number          text,
  account_name            text,
  review_reasons          text[],
  approvals_needed        smallint,                -- by different operators; 0: no review
  limit_snapshot          jsonb,                   -- the limits and figures
  reversed_at             timestamptz,
  -- Of refunds: of what.
  transaction_id          text REFERENCES transaction,
  attempt_id              text REFERENCES payment_attempt, -- which was paid: the order at the provider
  is_remainder            boolean,                 -- requested without an amount: what was left of the payment
  return_fee              boolean,
  UNIQUE (reference, merchant_id, environment, kind),
  CHECK ((status = 'PENDING') = (stage <> 'COMPLETED')),
  CHECK (num_nonnulls(confirmed_by, confirmed_at) <> 1),
  CONSTRAINT payout_of_withdrawal CHECK (kind <> 'withdrawal' OR (
    status IN ('PENDING', 'SUCCESS', 'FAILED', 'REJECTED', 'CANCELLED', 'REVERSED')
    AND stage IN ('AWAITING_CONFIRMATION', 'CREATED', 'UNDER_REVIEW', 'SUBMITTED', 'UNKNOWN', 'COMPLETED')
    AND fee_santim >= 0 AND fee_tax_santim >= 0
    AND num_nulls(account_name, review_reasons, approvals_needed, limit_snapshot) = 0
    AND (phone IS NULL) = (account_number IS NOT NULL) AND (bank_code IS NULL) = (account_number IS NULL)
    AND num_nonnulls(transaction_id, attempt_id, is_remainder, return_fee) = 0)),
  -- Of a refund, something is left to debit.
  CONSTRAINT payout_of_refund CHECK (kind <> 'refund' OR (
    status IN ('PENDING', 'SUCCESS', 'FAILED')
    AND stage IN ('AWAITING_CONFIRMATION', 'CREATED', 'SUBMITTED', 'UNKNOWN', 'COMPLETED')
    AND fee_santim <= 0 AND fee_tax_santim <= 0 AND amount_santim + fee_santim + fee_tax_santim > 0
    AND num_nulls(transaction_id, attempt_id, is_remainder, return_fee) = 0
    AND num_nonnulls(phone, bank_code, account_number, account_name, review_reasons, approvals_needed, limit_snapshot,
                     reversed_at) = 0))
);

INSERT INTO payout (kind, id, merchant_id, environment, reference, amount_santim, fee_santim, fee_tax_santim, currency, channel,
    reason, status, stage, requested_by, confirmed_by, confirmed_at, provider_account, provider_reference, provider_code,
    last_outcome, paid_santim, failure, callback_secret, version, lease_until, last_checked_at, requested_at, submitted_at,
    first_reported_paid_at, completed_at, created_at,
    phone, bank_code, account_number, account_name, review_reasons, approvals_needed, limit_snapshot, reversed_at)
  SELECT 'withdrawal', id, merchant_id, environment, request_id, amount_santim, fee_santim, fee_tax_santim, currency, channel,
    reason, status, stage, requested_by, confirmed_by, confirmed_at, provider_account, provider_reference, provider_code,
    last_outcome, paid_santim, failure, callback_secret, version, lease_until, last_checked_at, requested_at, submitted_at,
    first_reported_paid_at, completed_at, created_at,
    phone, bank_code, account_number, account_name, review_reasons, approvals_needed, limit_snapshot, reversed_at
  FROM withdrawal;
INSERT INTO payout (kind, id, merchant_id, environment, reference, amount_santim, fee_santim, fee_tax_santim, currency, channel,
    reason, status, stage, requested_by, confirmed_by, confirmed_at, provider_account, provider_reference, provider_code,
    last_outcome, paid_santim, failure, callback_secret, version, lease_until, last_checked_at, requested_at, submitted_at,
    first_reported_paid_at, completed_at, created_at, transaction_id, attempt_id, is_remainder, return_fee)
  SELECT 'refund', id, merchant_id, environment, reference, amount_santim, fee_santim, fee_tax_santim, currency, channel,
    reason, status, stage, requested_by, confirmed_by, confirmed_at, provider_account, provider_reference, provider_code,
    last_outcome, paid_santim, failure, callback_secret, version, lease_until, last_checked_at, requested_at, submitted_at,
    first_reported_paid_at, completed_at, created_at, transaction_id, attempt_id, is_remainder, return_fee
  FROM refund;

CREATE INDEX payout_list ON payout (merchant_id, environment, kind, requested_at DESC, id DESC);
-- For operators' lists over all merchants.
CREATE INDEX payout_newest ON payout (kind, requested_at DESC, id DESC);
-- For earlier withdrawals to the same beneficiary.
CREATE INDEX payout_beneficiary ON payout (merchant_id, environment, coalesce(phone, bank_code || ':' || account_number))
  WHERE kind = 'withdrawal';
CREATE INDEX payout_phone ON payout (phone) WHERE phone IS NOT NULL;
CREATE INDEX payout_transaction ON payout (transaction_id, id) WHERE transaction_id IS NOT NULL;
-- A provider's reference belongs to one payout: references that operators enter are checked here.
CREATE INDEX payout_provider_reference ON payout (provider_reference) WHERE provider_reference IS NOT NULL;
CREATE INDEX payout_open ON payout (id) WHERE status = 'PENDING';
CREATE INDEX payout_review ON payout (requested_at) WHERE stage = 'UNDER_REVIEW';
CREATE INDEX payout_awaiting ON payout (requested_at, id) WHERE stage = 'AWAITING_CONFIRMATION';
CREATE INDEX payout_overpaid ON payout (id) WHERE paid_santim > amount_santim;

ALTER TABLE withdrawal_approval RENAME TO payout_approval;
ALTER TABLE payout_approval RENAME COLUMN withdrawal_id TO payout_id;
ALTER TABLE payout_approval DROP CONSTRAINT withdrawal_approval_withdrawal_id_fkey,
  ADD FOREIGN KEY (payout_id) REFERENCES payout;

-- What a provider contradicts, of withdrawals and refunds alike.
ALTER TABLE payout_case RENAME COLUMN withdrawal_id TO payout_id;
ALTER TABLE payout_case DROP CONSTRAINT payout_case_withdrawal_id_fkey, ADD FOREIGN KEY (payout_id) REFERENCES payout;
ALTER INDEX payout_case_withdrawal RENAME TO payout_case_payout;
-- Of refunds, what was written in the timeline of their payment only: decisions, whose operators and status before them are not
-- known here, and what no decision followed.
INSERT INTO payout_case (payout_id, status, opened_at, decision, provider_reference, paid_santim, reason, decided_by, closed_at)
  SELECT p.id, 'PENDING', l.occurred_at, l.detail ->> 'outcome', l.detail ->> 'providerReference',
         coalesce(CAST(l.detail ->> 'paidSantim' AS bigint), 0), l.detail ->> 'reason', '{}', l.occurred_at
  FROM timeline l JOIN payout p ON p.kind = 'refund' AND p.id = l.detail ->> 'refundId'
  WHERE l.kind = 'refund.resolved' ORDER BY l.id;
INSERT INTO payout_case (payout_id, status, evidence, opened_at)
  SELECT p.id, p.status, (
           SELECT jsonb_build_object('outcome', 'succeeded', 'amountSantim', l.detail -> 'reportedSantim', 'currency', l.detail -> 'currency')
           FROM timeline l WHERE l.resource_id = p.transaction_id AND l.kind = 'refund.responded' AND l.detail ->> 'refundId' = p.id
             AND l.detail ->> 'reportedSantim' IS NOT NULL ORDER BY l.id DESC LIMIT 1), p.first_reported_paid_at
  FROM payout p
  WHERE p.kind = 'refund' AND p.status IN ('PENDING', 'FAILED') AND p.first_reported_paid_at IS NOT NULL;

ALTER TABLE withdrawal_resolution RENAME TO payout_resolution;
ALTER TABLE payout_resolution RENAME COLUMN withdrawal_id TO payout_id;
ALTER TABLE payout_resolution DROP CONSTRAINT withdrawal_resolution_withdrawal_id_fkey,
  ADD FOREIGN KEY (payout_id) REFERENCES payout;

ALTER TABLE provider_callback DROP CONSTRAINT provider_callback_about;
DROP INDEX provider_callback_refund;
ALTER TABLE provider_callback RENAME COLUMN withdrawal_id TO payout_id;
ALTER TABLE provider_callback DROP CONSTRAINT provider_callback_withdrawal_id_fkey;
UPDATE provider_callback SET payout_id = refund_id WHERE refund_id IS NOT NULL;
ALTER TABLE provider_callback DROP COLUMN refund_id,
  ADD FOREIGN KEY (payout_id) REFERENCES payout,
  ADD CONSTRAINT provider_callback_about CHECK (num_nonnulls(attempt_id, payout_id) = 1);
ALTER INDEX provider_callback_withdrawal RENAME TO provider_callback_payout;

DROP INDEX bank_receipt_recovery, bank_receipt_refund_recovery;
ALTER TABLE bank_receipt RENAME COLUMN withdrawal_id TO payout_id; -- of a RECOVERY: the overpaid one, whose excess the provider owes
ALTER TABLE bank_receipt DROP CONSTRAINT bank_receipt_withdrawal_id_fkey;
UPDATE bank_receipt SET payout_id = refund_id WHERE refund_id IS NOT NULL;
ALTER TABLE bank_receipt DROP COLUMN refund_id,
  ADD FOREIGN KEY (payout_id) REFERENCES payout,
  ADD CHECK ((payout_id IS NOT NULL) = (kind = 'RECOVERY'));
-- One recovery for each overpaid payout. References are unique in external_reference.
CREATE UNIQUE INDEX bank_receipt_recovery ON bank_receipt (payout_id) WHERE payout_id IS NOT NULL AND reversed_at IS NULL;

DROP TABLE withdrawal, refund;
