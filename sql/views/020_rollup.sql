-- Sums by hour, day and month: made anew from the records, so that doing it twice changes nothing.

DROP FUNCTION IF EXISTS rollup_hours(timestamptz, timestamptz), rollup_longer(text, text, timestamptz, timestamptz), rollup_limit(),
  rollup_begin(), rollup_next(interval), rollup_again(timestamptz, timestamptz);

-- Sums of the hours of [lo, hi), whole hours both.
CREATE FUNCTION rollup_hours(lo timestamptz, hi timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM usage_hour WHERE began >= lo AND began < hi;
  DELETE FROM capacity_hour WHERE began >= lo AND began < hi;
  CREATE TEMPORARY TABLE rolled ON COMMIT DROP AS SELECT * FROM usage_between(lo, hi);
  INSERT INTO usage_key (account, user_name, uid, qos, wckey)
    SELECT DISTINCT account, user_name, uid, qos, wckey FROM rolled
    EXCEPT SELECT account, user_name, uid, qos, wckey FROM usage_key;
  INSERT INTO usage_hour (began, seconds, key_id, tres_id)
    SELECT to_timestamp(r.hour * 3600), r.seconds, k.key_id, r.tres_id
    FROM rolled r JOIN usage_key k USING (account, user_name, uid, qos, wckey);
  DROP TABLE rolled;
  INSERT INTO capacity_hour (began, tres_id, allocated, down, drained, reserved, idle, over)
    SELECT to_timestamp(c.hour * 3600), c.tres_id, c.allocated, c.down, c.drained, c.reserved, c.idle, c.over
    FROM capacity_between(lo, hi) c;
END $$;

-- Sums of the days or months of UTC, `unit`, that touch [lo, hi) and whose last hour has been summed up.
CREATE FUNCTION rollup_longer(unit text, finer text, lo timestamptz, hi timestamptz) RETURNS void LANGUAGE plpgsql
SET TimeZone = 'UTC' AS $$
DECLARE
  whole timestamptz;
BEGIN
  SELECT date_trunc(unit, to_hour, 'UTC') INTO STRICT whole FROM rollup;
  lo := date_trunc(unit, lo, 'UTC');
  hi := least(whole, date_trunc(unit, hi - interval '1 second', 'UTC') + ('1 ' || unit)::interval);
  IF lo >= hi THEN RETURN; END IF;
  EXECUTE format('DELETE FROM usage_%1$s WHERE began >= $1 AND began < $2', unit) USING lo, hi;
  EXECUTE format('DELETE FROM capacity_%1$s WHERE began >= $1 AND began < $2', unit) USING lo, hi;
  EXECUTE format(
    'INSERT INTO usage_%1$s (began, seconds, key_id, tres_id) '
    'SELECT date_trunc(%1$L, began, ''UTC''), sum(seconds)::bigint, key_id, tres_id FROM usage_%2$s '
    'WHERE began >= $1 AND began < $2 GROUP BY 1, 3, 4', unit, finer) USING lo, hi;
  EXECUTE format(
    'INSERT INTO capacity_%1$s (began, tres_id, allocated, down, drained, reserved, idle, over) '
    'SELECT date_trunc(%1$L, began, ''UTC''), tres_id, sum(allocated)::bigint, sum(down)::bigint, sum(drained)::bigint, '
    'sum(reserved)::bigint, sum(idle)::bigint, sum(over)::bigint FROM capacity_%2$s '
    'WHERE began >= $1 AND began < $2 GROUP BY 1, 2', unit, finer) USING lo, hi;
END $$;

-- Until when everything is committed: nothing that comes later began or ended before.
CREATE FUNCTION rollup_limit() RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT date_trunc('hour', state_now, 'UTC') FROM controller
$$;

-- The first hour of which there are records.
CREATE FUNCTION rollup_begin() RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT date_trunc('hour', least((SELECT min(allocated) FROM attempt_done), (SELECT min(allocated) FROM attempt_live),
                                  (SELECT min(began) FROM node_span)), 'UTC')
$$;

-- Sums up what comes next, at most `at_most`. False: nothing was left to be done.
CREATE FUNCTION rollup_next(at_most interval) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  lo timestamptz;
  hi timestamptz;
BEGIN
  SELECT to_hour INTO STRICT lo FROM rollup FOR UPDATE;
  lo := coalesce(lo, rollup_begin());
  hi := least(lo + at_most, rollup_limit());
  IF lo IS NULL OR lo >= hi THEN RETURN false; END IF;
  PERFORM rollup_hours(lo, hi);
  UPDATE rollup SET from_hour = coalesce(from_hour, lo), to_hour = hi;
  PERFORM rollup_longer('day', 'hour', lo, hi);
  PERFORM rollup_longer('month', 'day', lo, hi);
  RETURN true;
END $$;

-- Sums up once more what lies in [lo, hi) and was summed up before; both are whole hours. Those whose records have left the database
-- stay as they are.
CREATE FUNCTION rollup_again(lo timestamptz, hi timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  known timestamptz;
  whole timestamptz;
BEGIN
  SELECT to_hour, records_from INTO STRICT known, whole FROM rollup FOR UPDATE;
  hi := least(hi, known);
  lo := greatest(lo, whole);
  IF hi IS NULL OR lo >= hi THEN RETURN; END IF;
  PERFORM rollup_hours(lo, hi);
  UPDATE rollup SET from_hour = least(from_hour, lo);
  PERFORM rollup_longer('day', 'hour', lo, hi);
  PERFORM rollup_longer('month', 'day', lo, hi);
END $$;
