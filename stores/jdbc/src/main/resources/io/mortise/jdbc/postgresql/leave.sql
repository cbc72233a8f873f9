-- Restores the settings from before setup, of the server or of the pool, for a connection that goes back into a pool.
RESET default_transaction_isolation;
RESET lock_timeout;
RESET statement_timeout;
RESET idle_in_transaction_session_timeout;
SELECT set_config(name, reset_val, false) FROM pg_settings WHERE name IN ('transaction_timeout', 'idle_session_timeout');
RESET tcp_keepalives_idle;
RESET tcp_keepalives_interval;
RESET tcp_keepalives_count;
RESET plan_cache_mode;
RESET enable_seqscan;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET jit;
RESET synchronous_commit;
SELECT set_config(key, value, false) FROM json_each_text(CAST(nullif(current_setting('mortise.before', true), '') AS json))
