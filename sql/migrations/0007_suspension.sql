-- For how long an attempt stood still, and since when it does: it neither ran nor was charged for CPUs then.
ALTER TABLE attempt_live
  ADD COLUMN suspended    bigint NOT NULL DEFAULT 0,  -- microseconds, without what follows
  ADD COLUMN suspended_at timestamptz;
ALTER TABLE attempt_done
  ADD COLUMN suspended    bigint NOT NULL DEFAULT 0,
  ADD COLUMN suspended_at timestamptz;                -- of what has ended always null
CREATE OR REPLACE VIEW attempt AS SELECT * FROM attempt_live UNION ALL SELECT * FROM attempt_done;
