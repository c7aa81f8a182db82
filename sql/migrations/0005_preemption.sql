-- Attempts that were ended for another job in the last day, and the user of that job: what the limits of preemption count.
CREATE TABLE eviction (
  at      timestamptz NOT NULL,
  job_id  bigint      NOT NULL,
  task    bigint      NOT NULL,  -- -1: not an array task
  attempt bigint      NOT NULL,
  uid     bigint      NOT NULL,
  PRIMARY KEY (at, job_id, task, attempt)
);
