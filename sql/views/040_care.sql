-- Care of accounting: what was never ended, and months that leave the database for files and come back.

DROP FUNCTION IF EXISTS is_unknown(bigint, bigint), runaway_attempts(),
  runaway_end(bigint, bigint[], bigint[], bigint[], bigint, text, text, timestamptz), archive_part(timestamptz),
  archive_next(timestamptz, boolean), archive_line(text, bigint, bigint, integer), archive_sum(text), archive_purge(timestamptz, text, bigint, bigint, timestamptz), archive_load(jsonb);

-- Whether nothing of this job holds anything, as far as the controller knows: `job` is what it loads when it starts.
CREATE FUNCTION is_unknown(of_job bigint, of_task bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT NOT EXISTS (SELECT FROM job j WHERE j.job_id = of_job AND j.task = of_task
                     AND j.state IN ('CONFIGURING', 'RUNNING', 'SUSPENDED', 'COMPLETING'))
$$;

-- Attempts that are unfinished in accounting although the controller does not know them. One statement, so that both tables are
-- read in one snapshot.
CREATE FUNCTION runaway_attempts() RETURNS SETOF attempt_live LANGUAGE sql STABLE AS $$
  SELECT l.* FROM attempt_live l WHERE is_unknown(l.job_id, l.task)
$$;

-- Ends those of the named attempts that are still runaways, and returns their number. The next rollup sums up again from the hour of
-- the first of them; until then reports read the records. `mine` is the epoch of the calling controller.
CREATE FUNCTION runaway_end(mine bigint, of_jobs bigint[], of_tasks bigint[], of_attempts bigint[], by_uid bigint, by_name text,
                            from_host text, at timestamptz) RETURNS bigint LANGUAGE plpgsql SET lock_timeout = '30s' AS $$
DECLARE
  gone attempt_live%ROWTYPE;
  first timestamptz;
  done bigint := 0;
  named text := '';
BEGIN
  PERFORM set_config('synchronous_commit', 'on', true);
  -- Locked before the controller's row, for which commits wait, because a rollup holds this lock for a while.
  PERFORM FROM rollup FOR UPDATE;
  PERFORM FROM controller c WHERE c.epoch = mine FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'epoch % is over', mine USING ERRCODE = 'AR001';
  END IF;
  FOR gone IN
    DELETE FROM attempt_live l USING unnest(of_jobs, of_tasks, of_attempts) AS n (job_id, task, attempt)
    WHERE l.job_id = n.job_id AND l.task = n.task AND l.attempt = n.attempt AND is_unknown(l.job_id, l.task)
    RETURNING l.*
  LOOP
    first := least(first, gone.allocated);
    -- The time of its end is unknown: it is charged up to the last time at which it certainly existed.
    gone.ended := coalesce(greatest(gone.allocated, gone.started), gone.submitted);
    gone.released := gone.ended;
    gone.suspended_at := NULL;
    gone.charged_to := ARRAY[0, 0, 0, 0, 0, 0];  -- no usage records: the controller charged none
    gone.state := 'CANCELLED';
    gone.cancelled_by := by_uid;
    gone.cause := 'set ended by an administrator: the controller knew nothing of it any more';
    gone.superseded := EXISTS (SELECT FROM attempt_done d
                               WHERE d.job_id = gone.job_id AND d.task = gone.task AND d.attempt > gone.attempt)
                    OR EXISTS (SELECT FROM job j WHERE j.job_id = gone.job_id AND j.task = gone.task AND j.state = 'PENDING');
    INSERT INTO attempt_done VALUES (gone.*) ON CONFLICT DO NOTHING;
    done := done + 1;
    IF done <= 20 THEN
      named := named || CASE WHEN done > 1 THEN ',' ELSE '' END || gone.job_id || CASE WHEN gone.task >= 0 THEN '_' || gone.task ELSE '' END;
    END IF;
  END LOOP;
  IF done = 0 THEN RETURN 0; END IF;
  UPDATE rollup r SET to_hour = again.from_hour, from_hour = least(r.from_hour, again.from_hour)
  FROM (SELECT greatest(date_trunc('hour', first, 'UTC'), o.records_from) AS from_hour FROM rollup o) AS again
  WHERE again.from_hour < r.to_hour;
  INSERT INTO audit (at, uid, user_name, host, action, subject, outcome)
  VALUES (at, by_uid, by_name, from_host, 'end runaway jobs',
          'job ' || named || CASE WHEN done > 20 THEN ' and ' || done - 20 || ' more' ELSE '' END, 'ok');
  RETURN done;
END $$;

-- The partition of attempts that ended in a month.
CREATE FUNCTION archive_part(month timestamptz) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT 'attempt_done_' || to_char(month AT TIME ZONE 'UTC', 'YYYYMM')
$$;

-- The first month, over by `before`, of which attempts are here. Those loaded back stay unless `loaded` ones are wanted, too.
CREATE FUNCTION archive_next(before timestamptz, with_loaded boolean) RETURNS timestamptz LANGUAGE plpgsql
SET TimeZone = 'UTC' AS $$
DECLARE
  month timestamptz;
  found_one boolean;
BEGIN
  FOR month IN
    SELECT to_date(right(c.relname, 6), 'YYYYMM')::timestamptz
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'attempt_done'::regclass AND c.relname ~ '^attempt_done_[0-9]{6}$'
    UNION SELECT date_trunc('month', min(d.ended)) FROM attempt_done_default d
    ORDER BY 1
  LOOP
    EXIT WHEN month IS NULL OR month + interval '1 month' > before;
    CONTINUE WHEN NOT with_loaded AND EXISTS (SELECT FROM archive_file f WHERE f.began = month AND f.loaded IS NOT NULL);
    EXECUTE format('SELECT EXISTS (SELECT FROM attempt_done WHERE ended >= %L AND ended < %L)', month, month + interval '1 month')
      INTO found_one;
    IF found_one THEN RETURN month; END IF;
  END LOOP;
  RETURN NULL;
END $$;

-- A row of a month as its file has it: the attempt as an object, with its steps if it had any.
CREATE FUNCTION archive_line(line text, of_job bigint, of_task bigint, of_attempt integer) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT coalesce(left(line, -1) || ',"steps":' || json_agg(row_to_json(s) ORDER BY s.step)::text || '}', line)
  FROM attempt_step s WHERE s.job_id = of_job AND s.task = of_task AND s.attempt = of_attempt
$$;

-- What stands for all rows of a month: their number, a sum of their digests, and when the last of them was charged.
CREATE FUNCTION archive_sum(part text) RETURNS TABLE (count bigint, digest bigint, last timestamptz) LANGUAGE plpgsql STABLE
SET TimeZone = 'UTC' AS $$
BEGIN
  RETURN QUERY EXECUTE format(
    'SELECT count(*), coalesce(mod(sum((''x'' || left(md5(archive_line(row_to_json(a)::text, a.job_id, a.task, a.attempt)), 15))::bit(60)::bigint), 1152921504606846976), 0)::bigint, '
    'max(coalesce(a.released, a.ended)) FROM %I a', part);
END $$;

-- Removes a month from the database if all of its rows are in the file `file`. Returns 'done'; 'changed' if rows are missing in the file;
-- 'early' if they are not summed up yet; 'busy' if readers held the table during all tries. Writers wait only while the partition is
-- dropped: the exclusive lock is requested with NOWAIT, because transactions queued behind a waiting request would wait, too.
CREATE FUNCTION archive_purge(month timestamptz, file text, written bigint, digest bigint, at timestamptz) RETURNS text LANGUAGE plpgsql
SET lock_timeout = '200ms' SET TimeZone = 'UTC' AS $$
DECLARE
  part text := archive_part(month);
  here record;
  summed timestamptz;
  alone boolean := false;
BEGIN
  EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', part);
  SELECT * INTO STRICT here FROM archive_sum(part);
  IF here.count <> written OR here.digest <> archive_purge.digest THEN RETURN 'changed'; END IF;
  SELECT to_hour INTO STRICT summed FROM rollup FOR UPDATE;
  IF summed IS NULL OR summed < month + interval '1 month' OR summed < here.last THEN RETURN 'early'; END IF;
  FOR try IN 1 .. 40 LOOP
    BEGIN
      LOCK TABLE ONLY attempt_done IN ACCESS EXCLUSIVE MODE NOWAIT;
      alone := true;
      EXIT;
    EXCEPTION
      WHEN lock_not_available THEN PERFORM pg_sleep(0.05);
    END;
  END LOOP;
  IF NOT alone THEN RETURN 'busy'; END IF;
  EXECUTE format('DELETE FROM attempt_step s USING %I p WHERE s.job_id = p.job_id AND s.task = p.task AND s.attempt = p.attempt', part);
  EXECUTE format('DROP TABLE %I', part);
  UPDATE rollup SET records_from = greatest(records_from, month + interval '1 month',
                                            date_trunc('hour', here.last + interval '1 hour' - interval '1 microsecond'));
  UPDATE archive_file SET loaded = NULL WHERE began = month;
  INSERT INTO archive_file AS f (name, began, ended, rows, purged) VALUES (file, month, month + interval '1 month', written, at)
    ON CONFLICT (name) DO UPDATE SET rows = EXCLUDED.rows, purged = EXCLUDED.purged, loaded = NULL;
  RETURN 'done';
EXCEPTION
  WHEN lock_not_available THEN RETURN 'busy';
END $$;

-- Puts rows back as a file has them, an array of objects; those that are here stay as they are. Gives how many came. Columns that the
-- file's release did not have get their usual values.
CREATE FUNCTION archive_load(lines jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  columns text;
  foreign_one text;
  came bigint;
BEGIN
  SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) INTO columns
  FROM pg_attribute a WHERE a.attrelid = 'attempt_done'::regclass AND a.attnum > 0 AND NOT a.attisdropped AND lines->0 ? a.attname;
  SELECT k INTO foreign_one FROM jsonb_object_keys(lines->0) AS k
  WHERE k <> 'steps' AND NOT EXISTS (SELECT FROM pg_attribute a
                    WHERE a.attrelid = 'attempt_done'::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attname = k) LIMIT 1;
  IF foreign_one IS NOT NULL THEN
    RAISE EXCEPTION 'the file is of a newer release: it has a column %', foreign_one USING ERRCODE = 'AR004';
  END IF;
  EXECUTE format('INSERT INTO attempt_done (%1$s) SELECT %1$s FROM jsonb_populate_recordset(NULL::attempt_done, $1) '
                 'ON CONFLICT DO NOTHING', columns) USING lines;
  GET DIAGNOSTICS came = ROW_COUNT;
  INSERT INTO attempt_step
    SELECT s.* FROM jsonb_array_elements(lines) AS l, jsonb_populate_recordset(NULL::attempt_step, l->'steps') AS s
    WHERE l ? 'steps' ON CONFLICT DO NOTHING;
  RETURN came;
END $$;
