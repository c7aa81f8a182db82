-- The foundation: who is in charge, the journal of events, images of live records, and accounting.
--
-- A migration that has left this repository never changes: the program remembers its checksum. Later ones expand first and
-- contract a release afterwards. They run in one transaction each, in order, under an advisory lock.
--
-- In all tables: `task` is -1 for what is not an array task; `body` is protobuf (storage.proto) in the format version beside it.
-- Row images are written by the controller from its own state; nothing here computes them.

-- One row: which controller is in charge, and up to which event everything below is true.
CREATE TABLE controller (
  one           boolean     PRIMARY KEY DEFAULT true CHECK (one),
  system        uuid        NOT NULL DEFAULT gen_random_uuid(),  -- names this database wherever it is copied to
  cluster_id    integer,
  epoch         bigint      NOT NULL DEFAULT 0,   -- grows with every controller that takes over
  holder        uuid,                             -- the controller process that took the epoch
  host          text        NOT NULL DEFAULT '',  -- and where it runs
  lsn           bigint      NOT NULL DEFAULT 0,   -- last event in the journal
  state_now     timestamptz NOT NULL DEFAULT 'epoch',
  activated_at  timestamptz NOT NULL DEFAULT 'epoch',
  next_job_id   bigint      NOT NULL DEFAULT 1,
  next_node_id  bigint      NOT NULL DEFAULT 1,
  config_hash   bigint      NOT NULL DEFAULT 0
) WITH (fillfactor = 10);
INSERT INTO controller DEFAULT VALUES;

-- First statement of every transaction of a controller. Holds the row until its end, so that a takeover waits for a commit under
-- way and a commit after a takeover fails.
CREATE FUNCTION fence(mine bigint, first_lsn bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  seen record;
BEGIN
  SELECT c.epoch, c.lsn, c.host INTO STRICT seen FROM controller c FOR UPDATE;
  IF seen.epoch <> mine THEN
    RAISE EXCEPTION 'epoch % is over: the controller on % took over with epoch %', mine, seen.host, seen.epoch
      USING ERRCODE = 'AR001';
  END IF;
  IF seen.lsn + 1 <> first_lsn THEN
    RAISE EXCEPTION 'the journal ends at event %, and the next one offered is %', seen.lsn, first_lsn
      USING ERRCODE = 'AR002';
  END IF;
END $$;

-- Ends a transaction that did not find the rows it was sure of.
CREATE FUNCTION expect_rows(got bigint, wanted bigint, what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF got <> wanted THEN
    RAISE EXCEPTION 'only % of % rows of table % were there to be changed', got, wanted, what
      USING ERRCODE = 'AR003';
  END IF;
END $$;

-- Every change there ever was, in order. The number is gap-free across the partitions: fence() sees to that.
CREATE TABLE journal (
  lsn     bigint      NOT NULL,
  epoch   bigint      NOT NULL,
  at      timestamptz NOT NULL,
  kind    text        NOT NULL,
  version smallint    NOT NULL,
  job_id  bigint,
  task    bigint,
  body    bytea       NOT NULL,
  PRIMARY KEY (lsn, at)
) PARTITION BY RANGE (at);
-- Takes what no day's partition covers, so that a clock that jumps stops nothing.
CREATE TABLE journal_default PARTITION OF journal DEFAULT;

-- Makes the partitions of the day of `today` (UTC) and of `ahead` days after it, unless they are there.
CREATE FUNCTION journal_prepare(today timestamptz, ahead integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  first_day date := (today AT TIME ZONE 'UTC')::date;
  lower_end timestamptz;
  upper_end timestamptz;
  part text;
BEGIN
  FOR i IN 0 .. ahead LOOP
    part := 'journal_' || to_char(first_day + i, 'YYYYMMDD');
    CONTINUE WHEN to_regclass(part) IS NOT NULL;
    lower_end := (first_day + i)::timestamp AT TIME ZONE 'UTC';
    upper_end := (first_day + i + 1)::timestamp AT TIME ZONE 'UTC';
    EXECUTE format('CREATE TABLE %I (LIKE journal INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', part);
    EXECUTE format('WITH moved AS (DELETE FROM journal_default WHERE at >= %L AND at < %L RETURNING *) '
                   'INSERT INTO %I SELECT * FROM moved', lower_end, upper_end, part);
    EXECUTE format('ALTER TABLE journal ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', part, lower_end, upper_end);
  END LOOP;
END $$;

-- Drops the partitions that lie wholly before `before`. Recovery does not need them: it reads row images.
CREATE FUNCTION journal_purge(before timestamptz) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  part text;
  dropped integer := 0;
BEGIN
  FOR part IN
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'journal'::regclass AND c.relname ~ '^journal_[0-9]{8}$'
      AND (to_date(right(c.relname, 8), 'YYYYMMDD') + 1)::timestamp AT TIME ZONE 'UTC' <= before
  LOOP
    EXECUTE format('DROP TABLE %I', part);
    dropped := dropped + 1;
  END LOOP;
  DELETE FROM journal_default WHERE at < before;
  RETURN dropped;
END $$;

-- Live images: what a controller loads when it starts.

CREATE TABLE job (
  job_id      bigint   NOT NULL,
  task        bigint   NOT NULL,
  own_id      bigint   NOT NULL,
  state       text     NOT NULL,
  script      bytea    NOT NULL,  -- blobs in use; see blob_purge()
  environment bytea    NOT NULL,
  format      smallint NOT NULL,
  spec        bytea    NOT NULL,  -- never changes, so updates leave it out
  body        bytea    NOT NULL,
  PRIMARY KEY (job_id, task)
) WITH (fillfactor = 70);

CREATE TABLE node (
  node_id bigint   PRIMARY KEY,
  name    text     NOT NULL,
  format  smallint NOT NULL,
  body    bytea    NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE partition_conf (
  name   text     PRIMARY KEY,
  format smallint NOT NULL,
  body   bytea    NOT NULL
);

CREATE TABLE tres (
  tres_id bigint PRIMARY KEY,
  name    text   NOT NULL
);

-- Answers given, so that a repeated request is answered again instead of acted on. The id is the client's choice, of any length.
CREATE TABLE request (
  uid     bigint      NOT NULL,
  id      bytea       NOT NULL,
  expires timestamptz NOT NULL,
  format  smallint    NOT NULL,
  body    bytea       NOT NULL
);
CREATE UNIQUE INDEX request_key ON request (uid, sha256(id));

-- Scripts and environments by SHA-256. They hold secrets: nobody but the controller's own role reads them.
CREATE TABLE blob (
  id      bytea       PRIMARY KEY CHECK (length(id) = 32),
  content bytea       NOT NULL,
  created timestamptz NOT NULL DEFAULT now()
);

-- Removes blobs that no live job refers to any more. Called by the controller between two of its commits.
CREATE FUNCTION blob_purge(before timestamptz) RETURNS bigint LANGUAGE sql AS $$
  WITH gone AS (
    DELETE FROM blob b
    WHERE b.created < before
      AND NOT EXISTS (SELECT FROM job j WHERE j.script = b.id)
      AND NOT EXISTS (SELECT FROM job j WHERE j.environment = b.id)
    RETURNING 1)
  SELECT count(*) FROM gone
$$;

-- Accounting: one row an attempt, written when it is allocated, when it starts and when it ends. Attempt 0 is a job that ended
-- without ever having been allocated.
CREATE TABLE attempt (
  job_id         bigint      NOT NULL,
  task           bigint      NOT NULL,
  attempt        bigint      NOT NULL,
  own_id         bigint      NOT NULL,
  array_spec     text,                       -- tasks of the array it belongs to, "0-9%2"
  name           text        NOT NULL,
  user_name      text        NOT NULL,
  uid            bigint      NOT NULL,
  gid            bigint      NOT NULL,
  account        text        NOT NULL,
  qos            text        NOT NULL,
  partition      text        NOT NULL,
  state          text        NOT NULL,
  reason         text        NOT NULL,
  cancelled_by   bigint,
  submitted      timestamptz NOT NULL,
  eligible       timestamptz,
  allocated      timestamptz,
  started        timestamptz,
  ended          timestamptz,
  exit_code      integer     NOT NULL,
  exit_signal    integer     NOT NULL,
  node_count     bigint      NOT NULL,
  cpus           bigint      NOT NULL,
  node_list      text        NOT NULL,       -- "n[1-3]"
  requested_tres text        NOT NULL,       -- "cpu=4,mem=8000M,node=2"
  allocated_tres text        NOT NULL,
  user_cpu       bigint      NOT NULL,       -- microseconds, over all nodes
  system_cpu     bigint      NOT NULL,       -- microseconds, over all nodes
  max_rss        bigint      NOT NULL,       -- bytes, of the node that needed most
  time_limit     bigint,                     -- seconds; null = unlimited
  restarts       bigint      NOT NULL,
  work_dir       text        NOT NULL,
  submit_host    text        NOT NULL,
  submit_zone    text        NOT NULL,       -- the submitter's time zone
  cluster_id     integer     NOT NULL,
  association_id bigint,                     -- filled from the release that has accounts
  qos_id         bigint,
  reservation_id bigint,
  wckey_id       bigint,
  PRIMARY KEY (job_id, task, attempt)
) WITH (fillfactor = 80);
CREATE INDEX attempt_user ON attempt (user_name, submitted);
CREATE INDEX attempt_submitted ON attempt (submitted);
CREATE INDEX attempt_ended ON attempt (ended);
CREATE INDEX attempt_state ON attempt (state, ended);
CREATE INDEX attempt_own_id ON attempt (own_id);

-- What an attempt held, and from when to when: a change of its size begins another segment.
CREATE TABLE attempt_tres (
  job_id  bigint      NOT NULL,
  task    bigint      NOT NULL,
  attempt bigint      NOT NULL,
  segment integer     NOT NULL,
  tres_id bigint      NOT NULL,
  count   bigint      NOT NULL,
  began   timestamptz NOT NULL,
  ended   timestamptz,
  PRIMARY KEY (job_id, task, attempt, segment, tres_id)
);

-- Who did what from where, and what came of it.
CREATE TABLE audit (
  id        bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at        timestamptz NOT NULL,
  uid       bigint      NOT NULL,
  user_name text        NOT NULL,
  host      text        NOT NULL,
  action    text        NOT NULL,
  subject   text        NOT NULL,
  outcome   text        NOT NULL
);
CREATE INDEX audit_at ON audit (at);

-- Identities that later releases fill; the numbers are part of stored usage from now on, so the roots exist already.

CREATE TABLE cluster (
  cluster_id integer PRIMARY KEY,
  name       text    NOT NULL UNIQUE
);
CREATE TABLE account (
  account_id bigint PRIMARY KEY,
  name       text   NOT NULL UNIQUE
);
INSERT INTO account VALUES (1, 'root');
CREATE TABLE qos (
  qos_id bigint PRIMARY KEY,
  name   text   NOT NULL UNIQUE
);
INSERT INTO qos VALUES (1, 'normal');
-- A user, or an account, on a cluster: a tree below one root.
CREATE TABLE association (
  association_id bigint  PRIMARY KEY,
  parent_id      bigint  REFERENCES association,
  cluster_id     integer,                        -- null = every cluster
  account_id     bigint  NOT NULL REFERENCES account,
  uid            bigint,                         -- null = the account itself
  partition      text
);
INSERT INTO association (association_id, account_id) VALUES (1, 1);
CREATE TABLE wckey (
  wckey_id bigint PRIMARY KEY,
  name     text   NOT NULL UNIQUE
);
CREATE TABLE reservation (
  reservation_id bigint      PRIMARY KEY,
  name           text        NOT NULL,
  began          timestamptz NOT NULL,
  ended          timestamptz
);

-- Reports read accounting through this role, which sees neither blobs nor live images nor requests. A database owner who may not
-- create roles calls grant_report() once somebody has created it.
CREATE FUNCTION grant_report() RETURNS void LANGUAGE sql AS $$
  GRANT SELECT ON attempt, attempt_tres, tres, cluster, account, association, qos, wckey, reservation TO ares_report
$$;
DO $$
BEGIN
  IF to_regrole('ares_report') IS NULL THEN
    BEGIN
      CREATE ROLE ares_report NOLOGIN;
    EXCEPTION
      WHEN insufficient_privilege OR duplicate_object OR unique_violation THEN NULL;
    END;
  END IF;
  IF to_regrole('ares_report') IS NOT NULL THEN
    PERFORM grant_report();
  END IF;
END $$;
