-- Accounting at scale: live attempts apart from ended ones, the latter by month of their end.
--
-- A live row changes a few times and has no index but its key, so that those changes stay within their page. What has ended hardly
-- ever changes: it is written once, where reports look for it. A report over a window of time reads the months of that window only.
-- Both together are the view `attempt`; reports need not know that it consists of two tables.

ALTER TABLE attempt RENAME TO attempt_0001;
ALTER TABLE attempt_tres RENAME TO attempt_tres_0001;

-- Fixed widths first: a row without padding.
CREATE TABLE attempt_live (
  job_id         bigint      NOT NULL,
  task           bigint      NOT NULL,
  own_id         bigint      NOT NULL,
  uid            bigint      NOT NULL,
  gid            bigint      NOT NULL,
  submitted      timestamptz NOT NULL,
  eligible       timestamptz,
  allocated      timestamptz,
  started        timestamptz,
  ended          timestamptz,               -- of live attempts null
  user_cpu       bigint      NOT NULL,      -- microseconds, over all nodes
  system_cpu     bigint      NOT NULL,      -- microseconds, over all nodes
  max_rss        bigint      NOT NULL,      -- bytes, of the node that needed most
  time_limit     bigint,                    -- seconds; null = unlimited, 0 = the partition's default, which was never looked up
  cpus           bigint      NOT NULL,      -- allocated
  tasks          bigint,                    -- asked for
  priority       bigint,                    -- when it was allocated, or ended without
  restarts       bigint      NOT NULL,
  cancelled_by   bigint,                    -- of what was cancelled or requeued: who did it
  association_id bigint,                    -- filled from the release that has accounts
  qos_id         bigint,
  reservation_id bigint,
  wckey_id       bigint,
  cluster_id     integer     NOT NULL,
  attempt        integer     NOT NULL,      -- 0 = ended without ever having been allocated
  exit_code      integer     NOT NULL,
  exit_signal    integer     NOT NULL,
  node_count     integer     NOT NULL,
  superseded     boolean     NOT NULL,      -- another attempt of the job follows, or it waits for one
  exclusive      boolean,
  name           text        NOT NULL,
  user_name      text        NOT NULL,
  account        text        NOT NULL,
  qos            text        NOT NULL,
  partition      text        NOT NULL,      -- it ran in; of a job that never ran the ones it asked for
  state          text        NOT NULL,
  reason         text        NOT NULL,
  node_list      text        NOT NULL,      -- "n[1-3]"
  max_rss_node   text,
  requested_tres text        NOT NULL,      -- "cpu=4,mem=8000M,node=2"
  allocated_tres text        NOT NULL,
  tres_ids       integer[],                 -- what allocated_tres says, by the numbers of table `tres`
  tres_counts    bigint[],
  array_spec     text,                      -- tasks of the array it belongs to, "0-9%2"
  array_tasks    text,                      -- of an array's own row: the tasks it stands for, which never ran
  work_dir       text        NOT NULL,
  submit_host    text        NOT NULL,
  submit_zone    text        NOT NULL,      -- the submitter's time zone
  cause          text,                      -- of a failure, for people; from here on null where there is none
  comment        text,
  constraints    text,
  licenses       text,
  std_in         text,                      -- patterns, as given
  std_out        text,
  std_err        text,
  submit_line    text,
  PRIMARY KEY (job_id, task)
) WITH (fillfactor = 60);

CREATE TABLE attempt_done (LIKE attempt_live) PARTITION BY RANGE (ended);
ALTER TABLE attempt_done ALTER COLUMN ended SET NOT NULL;
-- A job cancelled while it waited for an attempt and requeued then ends that attempt twice: the time tells the two apart.
ALTER TABLE attempt_done ADD PRIMARY KEY (job_id, task, attempt, ended);
CREATE INDEX attempt_done_ended ON attempt_done (ended);
CREATE INDEX attempt_done_user ON attempt_done (uid, ended);
CREATE INDEX attempt_done_own_id ON attempt_done (own_id) WHERE task >= 0;
-- Takes what no month's partition covers, so that a clock that jumps stops nothing.
CREATE TABLE attempt_done_default PARTITION OF attempt_done DEFAULT;

-- Makes the partitions of the month of `today` (UTC) and of `ahead` months after it, unless they are there. Does not wait for reports
-- that read: false = try again later.
CREATE FUNCTION attempt_prepare(today timestamptz, ahead integer) RETURNS boolean LANGUAGE plpgsql
SET lock_timeout = '500ms' AS $$
DECLARE
  first_month timestamp := date_trunc('month', today AT TIME ZONE 'UTC');
  lower_end timestamptz;
  upper_end timestamptz;
  part text;
BEGIN
  FOR i IN 0 .. ahead LOOP
    part := 'attempt_done_' || to_char(first_month + make_interval(months => i), 'YYYYMM');
    CONTINUE WHEN to_regclass(part) IS NOT NULL;
    lower_end := (first_month + make_interval(months => i)) AT TIME ZONE 'UTC';
    upper_end := (first_month + make_interval(months => i + 1)) AT TIME ZONE 'UTC';
    EXECUTE format('CREATE TABLE %I (LIKE attempt_done INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', part);
    EXECUTE format('WITH moved AS (DELETE FROM attempt_done_default WHERE ended >= %L AND ended < %L RETURNING *) '
                   'INSERT INTO %I SELECT * FROM moved', lower_end, upper_end, part);
    EXECUTE format('ALTER TABLE attempt_done ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', part, lower_end, upper_end);
  END LOOP;
  RETURN true;
EXCEPTION
  WHEN lock_not_available THEN RETURN false;
END $$;

-- What was there moves over.
DO $$
DECLARE
  month timestamptz;
BEGIN
  FOR month IN
    SELECT DISTINCT date_trunc('month', ended AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' FROM attempt_0001
    WHERE ended > '2000-01-01' AND ended < '2200-01-01'
  LOOP
    PERFORM attempt_prepare(month, 0);
  END LOOP;
END $$;

CREATE FUNCTION is_live_0002(state text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT state IN ('PENDING', 'CONFIGURING', 'RUNNING', 'SUSPENDED', 'COMPLETING')
$$;
CREATE TEMPORARY VIEW moved_0002 AS
  SELECT a.*,
         CASE WHEN is_live_0002(a.state) THEN NULL ELSE coalesce(a.ended, a.started, a.allocated, a.submitted) END AS end_time,
         CASE WHEN a.state = 'CANCELLED' AND a.reason = 'Requeued' THEN 'REQUEUED' ELSE a.state END AS end_state,
         lead(a.attempt) OVER (PARTITION BY a.job_id, a.task ORDER BY a.attempt) IS NOT NULL
           OR EXISTS (SELECT FROM job j WHERE j.job_id = a.job_id AND j.task = a.task AND j.state = 'PENDING')
              AND NOT is_live_0002(a.state) AND (a.task >= 0 OR a.array_spec IS NULL) AS followed,
         t.ids, t.counts
  FROM attempt_0001 a
  LEFT JOIN (SELECT job_id, task, attempt, array_agg(tres_id::integer ORDER BY tres_id) AS ids,
                    array_agg(count ORDER BY tres_id) AS counts
             FROM attempt_tres_0001 WHERE segment = 0 GROUP BY job_id, task, attempt) t
    USING (job_id, task, attempt);

INSERT INTO attempt_live
  (job_id, task, own_id, uid, gid, submitted, eligible, allocated, started, user_cpu, system_cpu, max_rss, time_limit, cpus,
   restarts, cancelled_by, cluster_id, attempt, exit_code, exit_signal, node_count, superseded, name, user_name, account, qos,
   partition, state, reason, node_list, requested_tres, allocated_tres, tres_ids, tres_counts, array_spec, work_dir, submit_host,
   submit_zone)
SELECT DISTINCT ON (job_id, task)
       job_id, task, own_id, uid, gid, submitted, eligible, allocated, started, user_cpu, system_cpu, max_rss, time_limit, cpus,
       restarts, cancelled_by, cluster_id, attempt, exit_code, exit_signal, node_count, false, name, user_name, account, qos,
       partition, state, reason, node_list, requested_tres, allocated_tres, ids, counts, array_spec, work_dir, submit_host,
       submit_zone
FROM moved_0002 WHERE end_time IS NULL ORDER BY job_id, task, attempt DESC;

INSERT INTO attempt_done
  (job_id, task, own_id, uid, gid, submitted, eligible, allocated, started, ended, user_cpu, system_cpu, max_rss, time_limit, cpus,
   restarts, cancelled_by, cluster_id, attempt, exit_code, exit_signal, node_count, superseded, name, user_name, account, qos,
   partition, state, reason, node_list, requested_tres, allocated_tres, tres_ids, tres_counts, array_spec, work_dir, submit_host,
   submit_zone)
SELECT job_id, task, own_id, uid, gid, submitted, eligible, allocated, started, end_time, user_cpu, system_cpu, max_rss, time_limit, cpus,
       restarts, cancelled_by, cluster_id, attempt, exit_code, exit_signal, node_count, followed, name, user_name, account, qos,
       partition, end_state, reason, node_list, requested_tres, allocated_tres, ids, counts, array_spec, work_dir, submit_host,
       submit_zone
FROM moved_0002 WHERE end_time IS NOT NULL ORDER BY end_time;

DROP VIEW moved_0002;
DROP FUNCTION is_live_0002(text);
DROP TABLE attempt_0001, attempt_tres_0001;
ANALYZE attempt_done;

CREATE VIEW attempt AS SELECT * FROM attempt_live UNION ALL SELECT * FROM attempt_done;
-- Who held how much of what, and from when to when.
CREATE VIEW attempt_tres AS
  SELECT a.job_id, a.task, a.attempt, t.tres_id, t.count, a.allocated AS began, a.ended
  FROM attempt a, unnest(a.tres_ids, a.tres_counts) AS t (tres_id, count)
  WHERE a.allocated IS NOT NULL;

CREATE OR REPLACE FUNCTION grant_report() RETURNS void LANGUAGE sql AS $$
  GRANT SELECT ON attempt, attempt_live, attempt_done, attempt_tres, tres, cluster, account, association, qos, wckey, reservation
  TO ares_report
$$;
DO $$
BEGIN
  IF to_regrole('ares_report') IS NOT NULL THEN
    PERFORM grant_report();
  END IF;
END $$;
