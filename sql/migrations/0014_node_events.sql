-- What happened to each node and why: for actl show node --history. Rows past their retention are removed (retention.node_events).
CREATE TABLE node_event (
  id      bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at      timestamptz NOT NULL,
  node_id bigint      NOT NULL,
  name    text        NOT NULL,
  what    text        NOT NULL,  -- DRAIN, RESUME, DOWN, FAIL, REGISTERED, LOST, LAUNCH_FAILED, REBOOT_REQUESTED, ...
  uid     bigint,                -- of the user who did it; null = the controller
  detail  text        NOT NULL
);
CREATE INDEX node_event_of_node ON node_event (name, id);
CREATE INDEX node_event_age ON node_event (at);
