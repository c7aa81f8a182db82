-- Steps of attempts, and the batch script of those that had steps: the rows JOB.batch, JOB.0, ... of aacct. Written with the report of
-- the attempt's end by its first node. They leave the database with their attempt (sql/views/040_care.sql).
CREATE TABLE attempt_step (
  job_id       bigint      NOT NULL,
  task         bigint      NOT NULL,
  step         bigint      NOT NULL,  -- -1 = the batch script, 2^32 = the sum of all steps that have no row of their own
  started      timestamptz NOT NULL,
  ended        timestamptz NOT NULL,
  user_cpu     bigint      NOT NULL,  -- microseconds, over all tasks
  system_cpu   bigint      NOT NULL,
  max_rss      bigint      NOT NULL,  -- bytes, of the task that needed most
  sum_rss      bigint      NOT NULL,  -- of all tasks
  disk_read    bigint      NOT NULL,  -- bytes
  disk_written bigint      NOT NULL,
  steps        bigint      NOT NULL,  -- that the row stands for
  tasks        bigint      NOT NULL,
  cpus         bigint      NOT NULL,
  cancelled_by bigint,
  attempt      bigint      NOT NULL,
  node_count   bigint      NOT NULL,
  exit_code    integer     NOT NULL,  -- of the task that ended worst
  exit_signal  integer     NOT NULL,
  name         text        NOT NULL,
  state        text        NOT NULL,
  node_list    text        NOT NULL,  -- "n[1-3]"
  max_rss_node text        NOT NULL,
  PRIMARY KEY (job_id, task, attempt, step)
);

CREATE OR REPLACE FUNCTION grant_report() RETURNS void LANGUAGE sql AS $$
  GRANT SELECT ON attempt, attempt_live, attempt_done, attempt_tres, attempt_step, tres, cluster, account, association, qos, wckey,
    reservation
  TO ares_report
$$;
DO $$
BEGIN
  IF to_regrole('ares_report') IS NOT NULL THEN
    PERFORM grant_report();
  END IF;
END $$;
