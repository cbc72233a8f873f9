-- Prepares a connection: sets the time limits of requests, and checks that the server takes writes.
-- :lock_timeout :statement_timeout :idle_timeout :transaction_timeout = in ms; :keepalive = in s
-- Between two statements of which one has arrived neither statement_timeout nor idle_in_transaction_session_timeout runs: a
-- network that breaks there, or a client that stops, leaves rows locked. transaction_timeout ends that, from PostgreSQL 17 on;
-- before, keepalives do if the client's host is gone.
-- READ COMMITTED: a read after a row was locked is fresh. A generic plan, by index and without compilation, whatever the
-- statistics of an empty table said: the same statements again and again.
-- Commits are awaited even where the database says otherwise: a grant that a crash forgets is given twice.
-- leave.sql restores the pool's own values.
-- Returns whether it is a standby, read-only by a setting, without fsync.
WITH kept AS MATERIALIZED (
  SELECT set_config('mortise.before', coalesce(CAST(json_object_agg(name, setting) AS text), '{}'), false)
  FROM pg_settings
  WHERE setting <> reset_val AND name IN ('default_transaction_isolation', 'lock_timeout', 'statement_timeout',
    'idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout', 'tcp_keepalives_idle',
    'tcp_keepalives_interval', 'tcp_keepalives_count', 'plan_cache_mode', 'enable_seqscan', 'enable_hashjoin', 'enable_mergejoin',
    'jit', 'synchronous_commit')
)
SELECT pg_is_in_recovery(),
  current_setting('transaction_read_only') = 'on',
  current_setting('fsync') = 'off',
  set_config('default_transaction_isolation', 'read committed', false),
  set_config('lock_timeout', :lock_timeout, false),
  set_config('statement_timeout', :statement_timeout, false),
  set_config('idle_in_transaction_session_timeout', :idle_timeout, false),
  CASE WHEN current_setting('idle_session_timeout', true) IS NOT NULL
    THEN set_config('idle_session_timeout', '0', false) END,
  CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL
    THEN set_config('transaction_timeout', :transaction_timeout, false) END,
  set_config('tcp_keepalives_idle', :keepalive, false),
  set_config('tcp_keepalives_interval', '1', false),
  set_config('tcp_keepalives_count', '3', false),
  set_config('plan_cache_mode', 'force_generic_plan', false),
  set_config('enable_seqscan', 'off', false),
  set_config('enable_hashjoin', 'off', false),
  set_config('enable_mergejoin', 'off', false),
  set_config('jit', 'off', false),
  set_config('synchronous_commit',
    CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false)
FROM kept
