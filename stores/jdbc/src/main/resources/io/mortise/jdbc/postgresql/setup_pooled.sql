-- As setup.sql, through a pooler that gives out server connections per transaction: other clients would meet the settings of a
-- connection.
-- Returns whether it is a standby, read-only by a setting, without fsync, of another isolation by default.
SELECT pg_is_in_recovery(),
  current_setting('transaction_read_only') = 'on',
  current_setting('fsync') = 'off',
  current_setting('default_transaction_isolation') <> 'read committed'
