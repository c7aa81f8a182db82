-- What jobs were for, across accounts (wckeys); whose usage each attempt counts as, and since when usage counts.
ALTER TABLE attempt_live
  ADD COLUMN wckey      text NOT NULL DEFAULT '',
  -- The numbers of its association, its QOS and its wckey (0 = none); what it was billed at, and while it was suspended, in thousandths;
  -- what it counts as by its QOS, in thousandths. Null = an earlier release began it.
  ADD COLUMN charged_to bigint[],
  ADD COLUMN held       text;  -- "cpu=4,license/a=1": every TRES that it holds, GPUs in thousandths
ALTER TABLE attempt_done
  ADD COLUMN wckey      text NOT NULL DEFAULT '',
  ADD COLUMN charged_to bigint[],
  ADD COLUMN held       text;

CREATE OR REPLACE VIEW attempt AS SELECT * FROM attempt_live UNION ALL SELECT * FROM attempt_done;

-- What anybody used before that counts no more, by the command reset or a period's end.
ALTER TABLE controller ADD COLUMN usage_since timestamptz NOT NULL DEFAULT 'epoch';

ALTER TABLE usage_key ADD COLUMN wckey text NOT NULL DEFAULT '';
ALTER TABLE usage_key DROP CONSTRAINT usage_key_account_user_name_uid_qos_key;
ALTER TABLE usage_key ADD UNIQUE (account, user_name, uid, qos, wckey);
