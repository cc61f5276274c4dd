-- What has happened to transactions, withdrawals, settlements and applications for verification. Append-only, by the
-- rights of src/lib/grants.ts. Each aggregate declares its kinds and the shape of their detail. There is no foreign key:
-- a resource is of one of several tables, and is never removed.
CREATE TABLE timeline (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  resource_id  text NOT NULL,                      -- txn_…, wd_…, stl_…; of an application mrc_…/live
  kind         text NOT NULL,                      -- session.created, review.approved, bank.sent …
  -- key_…, opr_…, "sandbox" or "calendar"; of settlements and applications only, and not in merchants' responses.
  actor        text,
  detail       jsonb NOT NULL DEFAULT '{}',
  occurred_at  timestamptz NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX timeline_resource ON timeline (resource_id, id);
