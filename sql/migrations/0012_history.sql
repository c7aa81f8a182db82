-- Which history of the database this is. Every copy has the same one, and an accepted rollback begins another, so that a controller and
-- nodes can tell an older copy from a database that has gone on. The first one has the name of the database.
ALTER TABLE controller
  ADD COLUMN history        text   NOT NULL DEFAULT '',
  ADD COLUMN past_histories text[] NOT NULL DEFAULT '{}';  -- before it, ended by rollbacks
UPDATE controller SET history = system::text;
