-- Undoes what setup has set, for a connection that goes back into a pool.
RESET default_transaction_isolation;
RESET lock_timeout;
RESET statement_timeout;
RESET idle_in_transaction_session_timeout;
RESET plan_cache_mode;
RESET enable_seqscan;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET jit;
RESET synchronous_commit
