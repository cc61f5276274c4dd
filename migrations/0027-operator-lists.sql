-- Operators list money out of all merchants, the newest first.
CREATE INDEX withdrawal_newest ON withdrawal (requested_at DESC, id DESC);
CREATE INDEX settlement_newest ON settlement (requested_at DESC, id DESC);
