-- Accounts, users, users in accounts (associations), qualities of service and wckeys, as the controller loads them.
-- `kind` tells which; an association has three names, a wckey two, the others one.
CREATE TABLE accounting_conf (
  kind      smallint NOT NULL,
  name      text     NOT NULL,
  user_name text     NOT NULL,
  partition text     NOT NULL,
  format    smallint NOT NULL,
  body      bytea    NOT NULL,
  PRIMARY KEY (kind, name, user_name, partition)
);
-- What each association's jobs have used, as it decays: fair share is made of it.
CREATE TABLE association_usage (
  association_id bigint   PRIMARY KEY,
  format         smallint NOT NULL,
  body           bytea    NOT NULL
) WITH (fillfactor = 50);
-- Numbers of associations and QOS: none is given twice.
ALTER TABLE controller ADD COLUMN next_record_id bigint NOT NULL DEFAULT 2;
