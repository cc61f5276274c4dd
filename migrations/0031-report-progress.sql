-- When a report's rows were last read, so that one that stands still is noticed.
ALTER TABLE report ADD COLUMN progressed_at timestamptz;
