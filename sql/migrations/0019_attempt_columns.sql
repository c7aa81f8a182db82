-- What attempts asked for beside amounts, and the nodes of the most that was read and written. Null: none.
ALTER TABLE attempt_live
  ADD COLUMN reservations          text,    -- that the job may use, with commas between them
  ADD COLUMN segment               bigint,  -- nodes in each group of --segment
  ADD COLUMN exclusive_user        boolean, -- true: shared its nodes only with jobs of its user
  ADD COLUMN container             text,    -- the image that it named
  ADD COLUMN extra                 text,
  ADD COLUMN max_disk_read_node    text,
  ADD COLUMN max_disk_written_node text;
ALTER TABLE attempt_done
  ADD COLUMN reservations          text,
  ADD COLUMN segment               bigint,
  ADD COLUMN exclusive_user        boolean,
  ADD COLUMN container             text,
  ADD COLUMN extra                 text,
  ADD COLUMN max_disk_read_node    text,
  ADD COLUMN max_disk_written_node text;

CREATE OR REPLACE VIEW attempt AS SELECT * FROM attempt_live UNION ALL SELECT * FROM attempt_done;
