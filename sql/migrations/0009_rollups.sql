-- Reports: what nodes and reservations were when, what attempts held where, and sums by hour, day and month.
--
-- The sums are made from the records and can be made again at any time: nothing else is kept in them. How they are made is said in
-- sql/views/, which every release brings anew.

-- An attempt is charged from `allocated` to `released`; `ended` is when its script ended, as its node told.
ALTER TABLE attempt_live
  ADD COLUMN released    timestamptz,  -- of live attempts null; of those from before this column as well: `ended` counts
  ADD COLUMN node_ids    bigint[],    -- in rank order
  ADD COLUMN node_shares bigint[];     -- tres_counts of each node, one behind another; null = all nodes' are equal
ALTER TABLE attempt_done
  ADD COLUMN released    timestamptz,
  ADD COLUMN node_ids    bigint[],
  ADD COLUMN node_shares bigint[];
-- Few are released long after their end; the others are found by that.
CREATE INDEX attempt_done_late ON attempt_done (released) WHERE released - ended > interval '1 hour';
-- Rows lie in the order in which they ended, so that a small index tells where those that began before some time may be.
CREATE INDEX attempt_done_allocated ON attempt_done USING brin (allocated) WITH (pages_per_range = 32);

CREATE OR REPLACE VIEW attempt AS SELECT * FROM attempt_live UNION ALL SELECT * FROM attempt_done;

-- How a node stood from `began` until its next row. Written in the commit that changed it.
CREATE TABLE node_span (
  node_id     bigint      NOT NULL,
  began       timestamptz NOT NULL,
  state       text        NOT NULL CHECK (state IN ('up', 'drained', 'down', 'gone')),
  name        text        NOT NULL,
  tres_ids    integer[]   NOT NULL,  -- what it has, by the numbers of table `tres`; of one that is gone nothing
  tres_counts bigint[]    NOT NULL,
  PRIMARY KEY (node_id, began)
);

-- That nodes were kept from `starts` to `ends`, as it was known from `since` to `until`: the two times have in common when they were.
CREATE TABLE reservation_span (
  name        text        NOT NULL,
  since       timestamptz NOT NULL,
  until       timestamptz,            -- null = still so
  starts      timestamptz NOT NULL,
  ends        timestamptz NOT NULL,
  maintenance boolean     NOT NULL,
  node_list   text        NOT NULL,
  node_ids    bigint[]    NOT NULL,
  PRIMARY KEY (name, since)
);
CREATE INDEX reservation_span_open ON reservation_span (name) WHERE until IS NULL;

-- Whose usage the sums are: as jobs named them.
CREATE TABLE usage_key (
  key_id    integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account   text    NOT NULL,
  user_name text    NOT NULL,
  uid       bigint  NOT NULL,
  qos       text    NOT NULL,
  UNIQUE (account, user_name, uid, qos)
);

-- TRES-seconds that attempts held; hours, days and months are those of UTC. What has none has no row.
CREATE TABLE usage_hour (
  began   timestamptz NOT NULL,
  seconds bigint      NOT NULL,
  key_id  integer     NOT NULL,
  tres_id integer     NOT NULL,
  PRIMARY KEY (began, key_id, tres_id)
);
CREATE TABLE usage_day (LIKE usage_hour INCLUDING ALL);
CREATE TABLE usage_month (LIKE usage_hour INCLUDING ALL);

-- TRES-seconds of the whole cluster. allocated + down + drained + reserved + idle = all there was.
CREATE TABLE capacity_hour (
  began     timestamptz NOT NULL,
  tres_id   integer     NOT NULL,
  allocated bigint      NOT NULL,
  down      bigint      NOT NULL,  -- as all below: of what was not allocated
  drained   bigint      NOT NULL,  -- on purpose: drained by a command, or in maintenance
  reserved  bigint      NOT NULL,
  idle      bigint      NOT NULL,
  over      bigint      NOT NULL,  -- held beyond what there was, as nodes are that several jobs share
  PRIMARY KEY (began, tres_id)
);
CREATE TABLE capacity_day (LIKE capacity_hour INCLUDING ALL);
CREATE TABLE capacity_month (LIKE capacity_hour INCLUDING ALL);

-- One row: which hours have been summed up. Whoever sums up holds it.
CREATE TABLE rollup (
  one      boolean     PRIMARY KEY DEFAULT true CHECK (one),
  from_hour timestamptz,           -- null = nothing yet
  to_hour   timestamptz            -- not included
);
INSERT INTO rollup DEFAULT VALUES;

-- What was loaded from sql/views/.
CREATE TABLE view_version (
  name     text        PRIMARY KEY,
  checksum text        NOT NULL,
  loaded   timestamptz NOT NULL DEFAULT now()
);
