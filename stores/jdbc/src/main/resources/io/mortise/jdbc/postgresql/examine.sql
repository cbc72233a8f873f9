-- Settings of the server that change what locks guarantee. The configured values, where our connections overrule them. Readable
-- by every user. Lowest server version: 12.
-- Returns one row.
WITH snapshot AS (
  SELECT age(backend_xmin) AS transactions, 'session ' || pid AS owner FROM pg_stat_activity
    WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid()
  UNION ALL
  SELECT age(xmin), 'replication slot ' || slot_name FROM pg_replication_slots WHERE xmin IS NOT NULL
  UNION ALL
  SELECT age(transaction), 'prepared transaction ' || left(gid, 60) FROM pg_prepared_xacts
)
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
  current_setting('is_superuser') AS is_superuser,
  coalesce((SELECT max(transactions) FROM snapshot), 0) AS snapshot_age,
  (SELECT owner FROM snapshot ORDER BY transactions DESC LIMIT 1) AS snapshot_owner
