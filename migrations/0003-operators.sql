-- A change that one operator proposes and another confirms. A pending one that has expired is not confirmed any more.
CREATE TABLE proposal (
  id             text PRIMARY KEY,                 -- prp_…
  operation_id   text NOT NULL,                    -- the operators' route that runs when it is confirmed
  action         text NOT NULL,                    -- merchant.change-fees …, as the audit log calls the change
  resource_type  text NOT NULL,
  resource_id    text,                             -- null: created by the confirmation
  merchant_id    text REFERENCES merchant,
  environment    text CHECK (environment IN ('sandbox', 'live')),
  request        jsonb NOT NULL,                   -- { params, body }
  before         jsonb,                            -- must still be so when it is confirmed
  after          jsonb,
  reason         text,
  proposed_by    text NOT NULL REFERENCES operator,
  proposed_at    timestamptz NOT NULL,
  expires_at     timestamptz NOT NULL,
  status         text NOT NULL DEFAULT 'PENDING' CHECK (status IN ('PENDING', 'CONFIRMED', 'REJECTED', 'WITHDRAWN')),
  decided_by     text REFERENCES operator,
  decided_at     timestamptz,
  decision_reason  text,
  created_at     timestamptz NOT NULL DEFAULT now(),
  CHECK ((status = 'PENDING') = (decided_by IS NULL) AND (decided_by IS NULL) = (decided_at IS NULL)),
  CHECK (status = 'WITHDRAWN' OR decided_by <> proposed_by)
);
CREATE INDEX proposal_list ON proposal (proposed_at DESC, id DESC);
CREATE INDEX proposal_pending ON proposal (expires_at) WHERE status = 'PENDING';

-- Who changed what, and why. A row commits with the change it describes and is never changed or removed.
CREATE TABLE operator_audit (
  id             text PRIMARY KEY,                 -- aud_…
  operator_id    text NOT NULL REFERENCES operator,
  proposed_by    text REFERENCES operator,         -- the change was proposed by this operator, confirmed by the other
  action         text NOT NULL,                    -- merchant.suspend, withdrawal.approve …
  resource_type  text NOT NULL,
  resource_id    text NOT NULL,
  merchant_id    text REFERENCES merchant,         -- null: the change concerns no single merchant
  environment    text CHECK (environment IN ('sandbox', 'live')),
  before         jsonb,                            -- the changed fields only; never a secret
  after          jsonb,
  reason         text,
  request_id     text NOT NULL,                    -- req_… of the HTTP request or of the command
  occurred_at    timestamptz NOT NULL,
  created_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX operator_audit_list ON operator_audit (occurred_at DESC, id DESC);
CREATE INDEX operator_audit_resource ON operator_audit (resource_id, occurred_at DESC);
CREATE INDEX operator_audit_merchant ON operator_audit (merchant_id, occurred_at DESC) WHERE merchant_id IS NOT NULL;
