-- What people and keys of a merchant have changed. A row commits with the change and is never changed or removed
-- (functions/merchant-audit.sql).
CREATE TABLE merchant_audit (
  id           text PRIMARY KEY,                   -- mau_…
  merchant_id  text NOT NULL REFERENCES merchant,
  environment  text CHECK (environment IN ('sandbox', 'live')),  -- null: of both, such as a role
  actor        text NOT NULL,                      -- usr_… or key_…
  action       text NOT NULL,                      -- key.create, member.remove …: MERCHANT_ACTIONS of http/people.ts
  resource_id  text,
  before       jsonb,                              -- the changed fields only; never a secret
  after        jsonb,
  address      text NOT NULL,                      -- IP address of the request
  request_id   text NOT NULL,                      -- req_…
  occurred_at  timestamptz NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX merchant_audit_list ON merchant_audit (merchant_id, occurred_at DESC, id DESC);
