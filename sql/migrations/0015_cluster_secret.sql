-- One row: the secret from which the keys are derived that let the nodes of an attempt know each other. Not for reports.
CREATE TABLE cluster_secret (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  value  bytea   NOT NULL CHECK (length(value) = 32)
);
INSERT INTO cluster_secret (value)
SELECT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex');
