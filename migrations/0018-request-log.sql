-- Merchants' API calls of the last 30 days, without bodies, queries and headers: for their developers. Written in batches
-- outside of the requests' transactions, and unlogged: a crash of PostgreSQL empties it.
CREATE UNLOGGED TABLE request_log (
  id           text PRIMARY KEY,                   -- req_…; sorts by time, so that it also finds the rows to delete
  merchant_id  text NOT NULL,
  environment  text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  key_id       text NOT NULL,                      -- key_…
  method       text NOT NULL,
  route        text NOT NULL,                      -- the pattern: a path may hold a token
  status       smallint NOT NULL,
  error_code   text,
  duration_ms  integer NOT NULL,
  address      text NOT NULL,                      -- of the caller
  created_at   timestamptz NOT NULL
);
-- With the filters of the list, so that it counts and finds a page without the rows.
CREATE INDEX request_log_list ON request_log (merchant_id, environment, created_at DESC, id DESC)
  INCLUDE (key_id, method, route, status);
