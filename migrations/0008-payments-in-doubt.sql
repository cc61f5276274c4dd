-- Questions of the worker about payments that went wrong. What they look for is rare: the indexes stay small.

-- Whose provider has said something genuine lately, and what came of it?
CREATE INDEX provider_callback_verified ON provider_callback (created_at, attempt_id) WHERE verified;
-- How much money waits for an operator?
CREATE INDEX payment_attempt_odd_money ON payment_attempt (status) WHERE status IN ('HELD', 'DUPLICATE');
CREATE INDEX transaction_reconcile ON transaction (id) WHERE reconcile;
