-- Old accounting in files: which months of attempts have left the database, and where to.
CREATE TABLE archive_file (
  name   text        PRIMARY KEY,  -- without its folder
  began  timestamptz NOT NULL,     -- its attempts ended in [began, ended): a month of UTC
  ended  timestamptz NOT NULL,
  rows   bigint      NOT NULL,
  purged timestamptz NOT NULL,     -- when they left the database
  loaded timestamptz               -- since when they are back, or come back; null = they are not
);

-- Sums of hours before this cannot be made again from the records, since some of these have left the database. Null: all can.
ALTER TABLE rollup ADD COLUMN records_from timestamptz;
