-- Nodes that are kept for some users, or for maintenance, during a time.
CREATE TABLE reservation_conf (
  name   text     PRIMARY KEY,
  format smallint NOT NULL,
  body   bytea    NOT NULL
);
