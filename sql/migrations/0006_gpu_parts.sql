-- Jobs may have parts of GPUs: from here on tres_counts hold thousandths of gres/gpu and gres/gpu:TYPE. The texts (allocated_tres,
-- requested_tres) say whole GPUs as before, and parts as 0.5.
CREATE FUNCTION gpus_in_thousandths(ids integer[], counts bigint[]) RETURNS bigint[] LANGUAGE sql STABLE AS $$
  SELECT array_agg(CASE WHEN t.name = 'gres/gpu' OR t.name LIKE 'gres/gpu:%' THEN 1000 * held.amount ELSE held.amount END
                   ORDER BY held.place)
  FROM unnest(ids, counts) WITH ORDINALITY AS held (id, amount, place) LEFT JOIN tres t ON t.tres_id = held.id
$$;
UPDATE attempt_live SET tres_counts = gpus_in_thousandths(tres_ids, tres_counts)
  WHERE tres_ids && (SELECT array_agg(tres_id::integer) FROM tres WHERE name LIKE 'gres/gpu%');
UPDATE attempt_done SET tres_counts = gpus_in_thousandths(tres_ids, tres_counts)
  WHERE tres_ids && (SELECT array_agg(tres_id::integer) FROM tres WHERE name LIKE 'gres/gpu%');
DROP FUNCTION gpus_in_thousandths;

-- What sites read goes on to say GPUs.
DROP VIEW attempt_tres;
CREATE VIEW attempt_tres AS
  SELECT a.job_id, a.task, a.attempt, t.tres_id,
         CASE WHEN n.name = 'gres/gpu' OR n.name LIKE 'gres/gpu:%' THEN trim_scale(t.count / 1000.0) ELSE t.count END AS count,
         a.allocated AS began, a.ended
  FROM attempt a CROSS JOIN LATERAL unnest(a.tres_ids, a.tres_counts) AS t (tres_id, count) LEFT JOIN tres n USING (tres_id)
  WHERE a.allocated IS NOT NULL;
DO $$
BEGIN
  IF to_regrole('ares_report') IS NOT NULL THEN
    PERFORM grant_report();
  END IF;
END $$;
