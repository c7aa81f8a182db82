-- What attempts have printed where no file gets it, as their nodes send it; shown by actl output. `size` counts all of it, `kept` what is
-- stored: the beginning, up to retention.job_output_limit. Rows are removed by age (sql/views/050_retention.sql), not with their job.
CREATE TABLE job_output (
  job_id  bigint      NOT NULL,
  task    bigint      NOT NULL,
  attempt bigint      NOT NULL,
  rank    bigint      NOT NULL,  -- of the node within the attempt
  uid     bigint      NOT NULL,  -- of the job
  size    bigint      NOT NULL,  -- bytes
  kept    bigint      NOT NULL,
  changed timestamptz NOT NULL,
  ended   boolean     NOT NULL,  -- nothing will be added
  PRIMARY KEY (job_id, task, attempt, rank)
);
CREATE INDEX ON job_output (changed);

CREATE TABLE job_output_part (
  job_id  bigint NOT NULL,
  task    bigint NOT NULL,
  attempt bigint NOT NULL,
  rank    bigint NOT NULL,
  at      bigint NOT NULL,  -- offset of the first byte
  data    bytea  NOT NULL,
  PRIMARY KEY (job_id, task, attempt, rank, at),
  FOREIGN KEY (job_id, task, attempt, rank) REFERENCES job_output ON DELETE CASCADE
);
