-- Who sells. A merchant has two environments, sandbox and live, which never share a row of anything below.
CREATE TABLE merchant (
  id          text PRIMARY KEY,                    -- mrc_…
  name        text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  status      text NOT NULL DEFAULT 'ACTIVE' CHECK (status IN ('ACTIVE', 'SUSPENDED')),
  kyc_status  text NOT NULL DEFAULT 'NOT_STARTED'
              CHECK (kyc_status IN ('NOT_STARTED', 'SUBMITTED', 'UNDER_REVIEW', 'APPROVED', 'REJECTED', 'MORE_INFO_NEEDED')),
  created_at  timestamptz NOT NULL DEFAULT now()
);
