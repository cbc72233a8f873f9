-- Settings of the server that change what locks guarantee. What is configured, where our connections overrule it.
-- Readable by every user. Lowest server version: 12.
-- Returns one row.
SELECT current_setting('server_version') AS version,
  current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes,
  current_setting('synchronous_commit') AS synchronous_commit,
  (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit') AS synchronous_commit_configured,
  current_setting('synchronous_standby_names') AS synchronous_standby_names,
  (SELECT count(*) FROM pg_stat_replication) AS standbys,
  current_setting('transaction_isolation') AS isolation,
  CAST(current_setting('max_connections') AS int) - CAST(current_setting('superuser_reserved_connections') AS int) AS connections_most,
  (SELECT coalesce(sum(numbackends), 0) FROM pg_stat_database) AS connections_now,
  coalesce(current_setting('idle_session_timeout', true), '0') AS idle_session_timeout,
  current_user AS user_name,
  current_setting('is_superuser') AS is_superuser
