-- The output of jobs that is in no file.

DROP FUNCTION IF EXISTS output_append(bigint, bigint, bigint, bigint, bigint, bigint, bytea, boolean, bigint),
  purge_job_output(bigint, timestamptz, integer);

-- Adds what follows the bytes that are stored, and gives how many are known then: the caller may forget these. Bytes that are known already
-- are skipped, so a call may be repeated, also by another controller at the same time. Bytes may be missing before `first`: then these
-- are lost. At most `most` bytes are kept.
CREATE FUNCTION output_append(of_job bigint, of_task bigint, of_attempt bigint, of_rank bigint, of_uid bigint, first bigint, bytes bytea,
                              is_end boolean, most bigint, OUT known bigint, OUT has_ended boolean) LANGUAGE plpgsql AS $$
DECLARE
  head job_output%ROWTYPE;
BEGIN
  PERFORM set_config('synchronous_commit', 'on', true);
  INSERT INTO job_output VALUES (of_job, of_task, of_attempt, of_rank, of_uid, 0, 0, now(), false) ON CONFLICT DO NOTHING;
  SELECT * INTO STRICT head FROM job_output o
  WHERE o.job_id = of_job AND o.task = of_task AND o.attempt = of_attempt AND o.rank = of_rank FOR UPDATE;
  IF first < head.size THEN
    bytes := substring(bytes FROM least(head.size - first, length(bytes))::integer + 1);
    first := head.size;
  END IF;
  known := CASE WHEN length(bytes) > 0 THEN first + length(bytes) ELSE head.size END;
  has_ended := head.ended OR is_end;
  IF known = head.size AND has_ended = head.ended THEN RETURN; END IF;
  bytes := substring(bytes FOR greatest(0, least(most - head.kept, length(bytes)))::integer);
  IF length(bytes) > 0 THEN
    INSERT INTO job_output_part VALUES (of_job, of_task, of_attempt, of_rank, first, bytes);
  END IF;
  UPDATE job_output o SET size = known, kept = head.kept + length(bytes), changed = now(), ended = has_ended
  WHERE o.job_id = of_job AND o.task = of_task AND o.attempt = of_attempt AND o.rank = of_rank;
END $$;

-- Removes at most `most` outputs that were last added to before `older_than`, and gives their number.
CREATE FUNCTION purge_job_output(mine bigint, older_than timestamptz, most integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  gone bigint;
BEGIN
  DELETE FROM job_output o
  WHERE (o.job_id, o.task, o.attempt, o.rank) IN
        (SELECT p.job_id, p.task, p.attempt, p.rank FROM job_output p
         WHERE p.changed < least(older_than, now()) ORDER BY p.changed LIMIT most FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS gone = ROW_COUNT;
  PERFORM hold_epoch(mine);
  RETURN gone;
END $$;
