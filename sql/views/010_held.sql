-- What attempts held. The functions here are the program's own and may change with any release; sites read the views of 030_views.sql.
--
-- Reports count whole seconds: what begins or ends within a second does so at its beginning. So sums of parts are the sum of the
-- whole, in integers.

DROP FUNCTION IF EXISTS second_of(timestamptz), held_between(timestamptz, timestamptz), usage_between(timestamptz, timestamptz),
  nodes_between(timestamptz, timestamptz), reserved_between(timestamptz, timestamptz), shares_between(timestamptz, timestamptz),
  capacity_between(timestamptz, timestamptz);

CREATE FUNCTION second_of(at timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT floor(extract(epoch FROM at))::bigint
$$;

-- GPUs are counted in thousandths, since jobs may have parts of one.
CREATE OR REPLACE FUNCTION one_of(tres text) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN tres = 'gres/gpu' OR tres LIKE 'gres/gpu:%' THEN 1000.0 ELSE 1 END
$$;

-- Seconds since 1970 that an attempt held what it had, within [lo, hi). Live attempts are charged up to hi.
CREATE FUNCTION held_between(lo timestamptz, hi timestamptz)
RETURNS TABLE (job_id bigint, account text, user_name text, uid bigint, qos text, wckey text, cpus bigint, tres_ids integer[], tres_counts bigint[],
               node_ids bigint[], node_shares bigint[], began bigint, ended bigint) LANGUAGE sql STABLE AS $$
  SELECT a.job_id, a.account, a.user_name, a.uid, a.qos, a.wckey, a.cpus, a.tres_ids, a.tres_counts, a.node_ids, a.node_shares,
         greatest(second_of(a.allocated), second_of(lo)), least(second_of(coalesce(a.released, a.ended)), second_of(hi))
  FROM attempt_done a
  WHERE a.allocated < hi AND a.ended > lo - interval '1 hour' AND coalesce(a.released, a.ended) > lo
  UNION ALL
  SELECT a.job_id, a.account, a.user_name, a.uid, a.qos, a.wckey, a.cpus, a.tres_ids, a.tres_counts, a.node_ids, a.node_shares,
         greatest(second_of(a.allocated), second_of(lo)), least(second_of(a.released), second_of(hi))
  FROM attempt_done a
  WHERE a.allocated < hi AND a.ended <= lo - interval '1 hour' AND a.released > lo AND a.released - a.ended > interval '1 hour'
  UNION ALL
  SELECT a.job_id, a.account, a.user_name, a.uid, a.qos, a.wckey, a.cpus, a.tres_ids, a.tres_counts, a.node_ids, a.node_shares,
         greatest(second_of(a.allocated), second_of(lo)), second_of(hi)
  FROM attempt_live a
  WHERE a.allocated < hi
$$;

-- TRES-seconds by hour (counted from 1970) and whose they were.
CREATE FUNCTION usage_between(lo timestamptz, hi timestamptz)
RETURNS TABLE (hour bigint, account text, user_name text, uid bigint, qos text, wckey text, tres_id integer, seconds bigint)
LANGUAGE sql STABLE AS $$
  SELECT h.n, s.account, s.user_name, s.uid, s.qos, s.wckey, t.tres_id,
         sum(t.count * (least(s.ended, (h.n + 1) * 3600) - greatest(s.began, h.n * 3600)))::bigint
  FROM held_between(lo, hi) s
  CROSS JOIN LATERAL generate_series(s.began / 3600, (s.ended - 1) / 3600) AS h (n)
  CROSS JOIN LATERAL unnest(s.tres_ids, s.tres_counts) AS t (tres_id, count)
  WHERE s.began < s.ended
  GROUP BY h.n, s.account, s.user_name, s.uid, s.qos, s.wckey, t.tres_id
$$;

-- What each node was at which seconds of [lo, hi), and what it had.
CREATE FUNCTION nodes_between(lo timestamptz, hi timestamptz)
RETURNS TABLE (node_id bigint, state text, tres_id integer, count bigint, began bigint, ended bigint) LANGUAGE sql STABLE AS $$
  SELECT s.node_id, s.state, t.tres_id, t.count, s.began, s.ended
  FROM (SELECT n.node_id, n.state, n.tres_ids, n.tres_counts, greatest(second_of(n.began), second_of(lo)) AS began,
               least(coalesce(second_of(lead(n.began) OVER (PARTITION BY n.node_id ORDER BY n.began)), second_of(hi)),
                     second_of(hi)) AS ended
        FROM node_span n WHERE n.began < hi) s
  CROSS JOIN LATERAL unnest(s.tres_ids, s.tres_counts) AS t (tres_id, count)
  WHERE s.began < s.ended
$$;

-- Which nodes were kept by a reservation at which seconds of [lo, hi).
CREATE FUNCTION reserved_between(lo timestamptz, hi timestamptz)
RETURNS TABLE (name text, starts timestamptz, ends timestamptz, maintenance boolean, node_list text, node_id bigint, began bigint,
               ended bigint)
LANGUAGE sql STABLE AS $$
  SELECT r.name, r.starts, r.ends, r.maintenance, r.node_list, n.node_id,
         second_of(greatest(r.starts, r.since, lo)), second_of(least(r.ends, r.until, hi))
  FROM reservation_span r CROSS JOIN LATERAL unnest(r.node_ids) AS n (node_id)
  WHERE r.starts < hi AND r.ends > lo AND r.since < hi AND (r.until IS NULL OR r.until > lo)
    AND second_of(greatest(r.starts, r.since, lo)) < second_of(least(r.ends, r.until, hi))
$$;

-- What attempts held of each node at which seconds of [lo, hi). Node 0 stands for those of attempts from before nodes were recorded.
CREATE FUNCTION shares_between(lo timestamptz, hi timestamptz)
RETURNS TABLE (node_id bigint, tres_id integer, count bigint, began bigint, ended bigint) LANGUAGE sql STABLE AS $$
  SELECT n.node_id, t.tres_id,
         CASE WHEN s.node_shares IS NOT NULL THEN s.node_shares[(n.at - 1) * cardinality(s.tres_ids) + t.at]
              WHEN cardinality(s.node_ids) > 1 THEN t.count / cardinality(s.node_ids)
              ELSE t.count END,
         s.began, s.ended
  FROM held_between(lo, hi) s
  CROSS JOIN LATERAL unnest(coalesce(s.node_ids, ARRAY[0]::bigint[])) WITH ORDINALITY AS n (node_id, at)
  CROSS JOIN LATERAL ROWS FROM (unnest(s.tres_ids), unnest(s.tres_counts)) WITH ORDINALITY AS t (tres_id, count, at)
  WHERE s.began < s.ended
$$;

-- The cluster's TRES-seconds by hour (counted from 1970), told apart. On each node at each second: what attempts hold is allocated, as
-- far as the node has it; what is left is down or drained if the node is, else drained in maintenance, else reserved, else idle.
CREATE FUNCTION capacity_between(lo timestamptz, hi timestamptz)
RETURNS TABLE (hour bigint, tres_id integer, allocated bigint, down bigint, drained bigint, reserved bigint, idle bigint, over bigint)
LANGUAGE sql STABLE AS $$
  WITH node AS MATERIALIZED (SELECT * FROM nodes_between(lo, hi)),
  held AS MATERIALIZED (SELECT * FROM shares_between(lo, hi)),
  place AS MATERIALIZED (SELECT node_id, tres_id FROM node UNION SELECT node_id, tres_id FROM held),
  -- Changes: of what there is, what is held, and how many reasons there are for it to be down, drained or reserved.
  change (node_id, tres_id, at, count, held, down, drained, reserved) AS (
    SELECT n.node_id, n.tres_id, e.at, e.sign * n.count, 0::bigint, CASE n.state WHEN 'down' THEN e.sign ELSE 0 END,
           CASE n.state WHEN 'drained' THEN e.sign ELSE 0 END, 0::bigint
    FROM node n CROSS JOIN LATERAL (VALUES (n.began, 1::bigint), (n.ended, -1::bigint)) AS e (at, sign)
    UNION ALL
    SELECT h.node_id, h.tres_id, e.at, 0, e.sign * h.count, 0, 0, 0
    FROM held h CROSS JOIN LATERAL (VALUES (h.began, 1::bigint), (h.ended, -1::bigint)) AS e (at, sign)
    UNION ALL
    SELECT p.node_id, p.tres_id, e.at, 0, 0, 0, CASE WHEN r.maintenance THEN e.sign ELSE 0 END,
           CASE WHEN r.maintenance THEN 0 ELSE e.sign END
    FROM reserved_between(lo, hi) r JOIN place p USING (node_id)
    CROSS JOIN LATERAL (VALUES (r.began, 1::bigint), (r.ended, -1::bigint)) AS e (at, sign)
    UNION ALL  -- no piece reaches over the end of an hour
    SELECT p.node_id, p.tres_id, h.n * 3600, 0, 0, 0, 0, 0
    FROM place p CROSS JOIN generate_series(second_of(lo) / 3600 + 1, (second_of(hi) - 1) / 3600) AS h (n)),
  piece AS (
    SELECT node_id, tres_id, at, lead(at) OVER w - at AS length, sum(count) OVER w AS count, sum(held) OVER w AS held,
           sum(down) OVER w AS down, sum(drained) OVER w AS drained, sum(reserved) OVER w AS reserved
    FROM change WINDOW w AS (PARTITION BY node_id, tres_id ORDER BY at)),
  told AS (
    SELECT at / 3600 AS hour, tres_id, length::bigint AS length, held::bigint AS held,
           CASE node_id WHEN 0 THEN held ELSE count END::bigint AS count,
           CASE WHEN down > 0 THEN 1 WHEN drained > 0 THEN 2 WHEN reserved > 0 THEN 3 ELSE 4 END AS rest
    FROM piece WHERE length > 0)
  SELECT hour, tres_id, sum(least(held, count) * length)::bigint,
         coalesce(sum((count - least(held, count)) * length) FILTER (WHERE rest = 1), 0)::bigint,
         coalesce(sum((count - least(held, count)) * length) FILTER (WHERE rest = 2), 0)::bigint,
         coalesce(sum((count - least(held, count)) * length) FILTER (WHERE rest = 3), 0)::bigint,
         coalesce(sum((count - least(held, count)) * length) FILTER (WHERE rest = 4), 0)::bigint,
         sum((held - least(held, count)) * length)::bigint
  FROM told GROUP BY hour, tres_id
$$;
