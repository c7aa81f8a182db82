-- How long a node may count on going on without the controller, and until when some may count on a longer time granted before: kept, so
-- that a lease made shorter ends no job while its old one may still run.
ALTER TABLE controller
  ADD COLUMN lease          bigint      NOT NULL DEFAULT 0,       -- seconds; 0 = not known
  ADD COLUMN old_leases_end timestamptz NOT NULL DEFAULT 'epoch';
