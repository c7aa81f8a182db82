-- What sites' own dashboards read: views of a stable shape in the schema ares_views, described in ares-views(5). Columns are only ever
-- added, at the end.

CREATE SCHEMA IF NOT EXISTS ares_views;

CREATE OR REPLACE VIEW ares_views.job AS
  SELECT a.own_id AS job_id, CASE WHEN a.task >= 0 THEN a.job_id END AS array_id, CASE WHEN a.task >= 0 THEN a.task END AS array_task,
         a.attempt, a.name, a.user_name, a.uid, a.account, a.qos, a.partition, a.state, a.reason, a.submitted, a.eligible, a.allocated,
         a.started, a.ended, a.released, a.exit_code, a.exit_signal, a.node_count, a.cpus, a.node_list, a.requested_tres,
         a.allocated_tres, a.time_limit, a.user_cpu / 1e6 AS user_cpu, a.system_cpu / 1e6 AS system_cpu, a.max_rss,
         a.superseded, a.wckey, a.disk_read, a.disk_written
  FROM attempt a;

-- Steps of attempts that have ended; an attempt without steps has no row, not even for its batch script.
CREATE OR REPLACE VIEW ares_views.step AS
  SELECT a.own_id AS job_id, a.attempt, CASE s.step WHEN -1 THEN 'batch' WHEN 4294967296 THEN 'others' ELSE s.step::text END AS step,
         s.name, s.state, s.started, s.ended, s.exit_code, s.exit_signal, s.tasks, s.node_count, s.cpus, s.node_list,
         s.user_cpu / 1e6 AS user_cpu, s.system_cpu / 1e6 AS system_cpu, s.max_rss, s.sum_rss, s.disk_read, s.disk_written, s.steps
  FROM attempt_step s JOIN attempt a USING (job_id, task, attempt);

CREATE OR REPLACE VIEW ares_views.usage_hour AS
  SELECT u.began, k.account, k.user_name, k.uid, k.qos, coalesce(t.name, u.tres_id::text) AS tres, u.seconds / one_of(t.name) AS seconds,
         k.wckey
  FROM usage_hour u JOIN usage_key k USING (key_id) LEFT JOIN tres t ON t.tres_id = u.tres_id;
CREATE OR REPLACE VIEW ares_views.usage_day AS
  SELECT u.began, k.account, k.user_name, k.uid, k.qos, coalesce(t.name, u.tres_id::text) AS tres, u.seconds / one_of(t.name) AS seconds,
         k.wckey
  FROM usage_day u JOIN usage_key k USING (key_id) LEFT JOIN tres t ON t.tres_id = u.tres_id;
CREATE OR REPLACE VIEW ares_views.usage_month AS
  SELECT u.began, k.account, k.user_name, k.uid, k.qos, coalesce(t.name, u.tres_id::text) AS tres, u.seconds / one_of(t.name) AS seconds,
         k.wckey
  FROM usage_month u JOIN usage_key k USING (key_id) LEFT JOIN tres t ON t.tres_id = u.tres_id;

CREATE OR REPLACE VIEW ares_views.capacity_hour AS
  SELECT c.began, coalesce(t.name, c.tres_id::text) AS tres, c.allocated / one_of(t.name) AS allocated,
         c.down / one_of(t.name) AS down, c.drained / one_of(t.name) AS drained, c.reserved / one_of(t.name) AS reserved,
         c.idle / one_of(t.name) AS idle, c.over / one_of(t.name) AS over,
         (c.allocated + c.down + c.drained + c.reserved + c.idle) / one_of(t.name) AS total
  FROM capacity_hour c LEFT JOIN tres t ON t.tres_id = c.tres_id;
CREATE OR REPLACE VIEW ares_views.capacity_day AS
  SELECT c.began, coalesce(t.name, c.tres_id::text) AS tres, c.allocated / one_of(t.name) AS allocated,
         c.down / one_of(t.name) AS down, c.drained / one_of(t.name) AS drained, c.reserved / one_of(t.name) AS reserved,
         c.idle / one_of(t.name) AS idle, c.over / one_of(t.name) AS over,
         (c.allocated + c.down + c.drained + c.reserved + c.idle) / one_of(t.name) AS total
  FROM capacity_day c LEFT JOIN tres t ON t.tres_id = c.tres_id;
CREATE OR REPLACE VIEW ares_views.capacity_month AS
  SELECT c.began, coalesce(t.name, c.tres_id::text) AS tres, c.allocated / one_of(t.name) AS allocated,
         c.down / one_of(t.name) AS down, c.drained / one_of(t.name) AS drained, c.reserved / one_of(t.name) AS reserved,
         c.idle / one_of(t.name) AS idle, c.over / one_of(t.name) AS over,
         (c.allocated + c.down + c.drained + c.reserved + c.idle) / one_of(t.name) AS total
  FROM capacity_month c LEFT JOIN tres t ON t.tres_id = c.tres_id;

CREATE OR REPLACE VIEW ares_views.node_history AS
  SELECT s.node_id, s.name, s.state, s.began, lead(s.began) OVER (PARTITION BY s.node_id ORDER BY s.began) AS ended,
         (SELECT string_agg(coalesce(t.name, n.tres_id::text) || '=' || trim_scale(n.count / one_of(t.name)), ',' ORDER BY t.name)
          FROM unnest(s.tres_ids, s.tres_counts) AS n (tres_id, count) LEFT JOIN tres t ON t.tres_id = n.tres_id) AS tres
  FROM node_span s;

CREATE OR REPLACE VIEW ares_views.reservation_history AS
  SELECT name, greatest(starts, since) AS began, least(ends, until) AS ended, maintenance, node_list
  FROM reservation_span WHERE until IS NULL OR (until > starts AND until > since);

CREATE OR REPLACE VIEW ares_views.summed_up AS SELECT from_hour AS began, to_hour AS ended FROM rollup;

-- The role ares_reader may read these views and nothing else: GRANT ares_reader TO a user. A database owner that may not create
-- roles calls ares_views.grant_reader() once a superuser has created the role.
CREATE OR REPLACE FUNCTION ares_views.grant_reader() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  GRANT USAGE ON SCHEMA ares_views TO ares_reader;
  GRANT SELECT ON ALL TABLES IN SCHEMA ares_views TO ares_reader;
END $$;
DO $$
BEGIN
  IF to_regrole('ares_reader') IS NULL THEN
    BEGIN
      CREATE ROLE ares_reader NOLOGIN;
    EXCEPTION
      WHEN insufficient_privilege OR duplicate_object OR unique_violation THEN NULL;
    END;
  END IF;
  IF to_regrole('ares_reader') IS NOT NULL THEN
    PERFORM ares_views.grant_reader();
  END IF;
END $$;
