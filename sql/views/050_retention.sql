-- Bounded growth: partitions ahead of need, and the removal of what is past its retention. The controller calls these on a connection of
-- its own, each call one short transaction, while commits go on.

DROP FUNCTION IF EXISTS hold_epoch(bigint), make_partitions(timestamptz, integer, integer), purge_blobs(bigint, bytea[], interval),
  purge_journal(bigint, timestamptz, integer), purge_audit(bigint, timestamptz, integer), purge_node_events(bigint, timestamptz, integer);

-- Ends the transaction unless `mine` is the epoch in force. Until the end of the transaction no commit and no takeover comes in between,
-- so the rest of it must be short. Waits for a commit under way, but less than deadlock_timeout: a commit may wait for a row of this
-- transaction, and is never the one that is ended.
CREATE FUNCTION hold_epoch(mine bigint) RETURNS void LANGUAGE plpgsql SET lock_timeout = '90ms' AS $$
BEGIN
  PERFORM FROM controller c WHERE c.epoch = mine FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'epoch % is over', mine USING ERRCODE = 'AR001';
  END IF;
END $$;

-- Makes the partitions of `at` and of so many days and months after it, unless they are there. False: a reader is in the way, or another
-- session makes them; until they exist the default partitions take the rows.
CREATE FUNCTION make_partitions(at timestamptz, days integer, months integer) RETURNS boolean LANGUAGE plpgsql
SET lock_timeout = '50ms' AS $$
BEGIN
  PERFORM journal_prepare(at, days);
  RETURN attempt_prepare(at, months);
EXCEPTION
  WHEN lock_not_available OR duplicate_table OR duplicate_object OR unique_violation THEN RETURN false;
END $$;

-- Removes those of the blobs `ids` that no live job refers to, and gives their number.
--
-- No commit can count on a blob that this removes. A commit that adds a reference writes the blob too (INSERT ... ON CONFLICT DO UPDATE),
-- so it holds or wants the lock of the blob's row until its end; otherwise the reference is handed on within a transaction by a row that
-- had it before. When the first statement has locked a row, a commit that writes this blob
--  * has ended before: its reference is seen by the second statement, whose snapshot is taken later (READ COMMITTED), and the blob stays;
--  * holds the row: the first statement skips it;
--  * comes later: it waits for this transaction, finds the row gone, and inserts the blob again.
-- This does not depend on any clock. `min_age` only spares blobs that are likely to be used again.
CREATE FUNCTION purge_blobs(mine bigint, ids bytea[], min_age interval) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  locked bytea[];
  gone bigint;
BEGIN
  SELECT array_agg(l.id) INTO locked
  FROM (SELECT b.id FROM blob b WHERE b.id = ANY (ids) AND b.created < now() - min_age FOR UPDATE SKIP LOCKED) l;
  DELETE FROM blob b
  WHERE b.id = ANY (locked)
    AND NOT EXISTS (SELECT FROM job j WHERE j.script = b.id)
    AND NOT EXISTS (SELECT FROM job j WHERE j.environment = b.id);
  GET DIAGNOSTICS gone = ROW_COUNT;
  PERFORM hold_epoch(mine);
  RETURN gone;
END $$;

-- Removes events from before `older_than`: the oldest partition that lies wholly before it, or else at most `most` rows of the default
-- partition. Gives how many partitions and rows went. Recovery reads row images; of the journal it needs the last event only, which stays
-- whatever its age. Not even a wrong clock of the controller removes what is not old by the server's.
CREATE FUNCTION purge_journal(mine bigint, older_than timestamptz, most integer) RETURNS TABLE (partitions bigint, events bigint)
LANGUAGE plpgsql AS $$
DECLARE
  part text;
BEGIN
  partitions := 0;
  events := 0;
  SELECT least(older_than, now(), coalesce(j.at, c.state_now)) INTO STRICT older_than
  FROM controller c LEFT JOIN journal j ON j.lsn = c.lsn;
  SELECT min(c.relname) INTO part FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = 'journal'::regclass AND c.relname ~ '^journal_[0-9]{8}$'
    AND (to_date(right(c.relname, 8), 'YYYYMMDD') + 1)::timestamp AT TIME ZONE 'UTC' <= older_than;
  IF part IS NOT NULL THEN
    -- In this order no commit is under way when the table is locked. Nothing waits for a reader, such as pg_dump.
    PERFORM hold_epoch(mine);
    LOCK TABLE ONLY journal IN ACCESS EXCLUSIVE MODE NOWAIT;
    EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE NOWAIT', part);
    EXECUTE format('DROP TABLE %I', part);
    partitions := 1;
  ELSE
    DELETE FROM journal_default d
    WHERE (d.lsn, d.at) IN (SELECT o.lsn, o.at FROM journal_default o WHERE o.at < older_than LIMIT most);
    GET DIAGNOSTICS events = ROW_COUNT;
    PERFORM hold_epoch(mine);
  END IF;
  RETURN NEXT;
END $$;

-- Removes at most `most` entries of the audit from before `older_than`, oldest first, and gives their number.
CREATE FUNCTION purge_audit(mine bigint, older_than timestamptz, most integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  gone bigint;
BEGIN
  DELETE FROM audit a
  WHERE a.id = ANY (ARRAY(SELECT o.id FROM audit o WHERE o.at < least(older_than, now()) ORDER BY o.at LIMIT most));
  GET DIAGNOSTICS gone = ROW_COUNT;
  PERFORM hold_epoch(mine);
  RETURN gone;
END $$;

-- The same for the history of nodes.
CREATE FUNCTION purge_node_events(mine bigint, older_than timestamptz, most integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  gone bigint;
BEGIN
  DELETE FROM node_event e
  WHERE e.id = ANY (ARRAY(SELECT o.id FROM node_event o WHERE o.at < least(older_than, now()) ORDER BY o.at LIMIT most));
  GET DIAGNOSTICS gone = ROW_COUNT;
  PERFORM hold_epoch(mine);
  RETURN gone;
END $$;
