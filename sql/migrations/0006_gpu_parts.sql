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
