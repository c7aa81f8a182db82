-- Bytes that attempts read from storage and wrote to it: of all nodes, and of the node with the most.
ALTER TABLE attempt_live
  ADD COLUMN disk_read        bigint NOT NULL DEFAULT 0,
  ADD COLUMN disk_written     bigint NOT NULL DEFAULT 0,
  ADD COLUMN max_disk_read    bigint NOT NULL DEFAULT 0,
  ADD COLUMN max_disk_written bigint NOT NULL DEFAULT 0;
ALTER TABLE attempt_done
  ADD COLUMN disk_read        bigint NOT NULL DEFAULT 0,
  ADD COLUMN disk_written     bigint NOT NULL DEFAULT 0,
  ADD COLUMN max_disk_read    bigint NOT NULL DEFAULT 0,
  ADD COLUMN max_disk_written bigint NOT NULL DEFAULT 0;

CREATE OR REPLACE VIEW attempt AS SELECT * FROM attempt_live UNION ALL SELECT * FROM attempt_done;
