-- Restores the settings from before setup, for a connection that goes back into a pool.
SET SESSION time_zone = @mortise.time_zone,
    sql_mode = @mortise.sql_mode,
    innodb_lock_wait_timeout = @mortise.innodb_lock_wait_timeout,
    lock_wait_timeout = @mortise.lock_wait_timeout,
    max_statement_time = @mortise.max_statement_time,
    idle_transaction_timeout = @mortise.idle_transaction_timeout,
    wait_timeout = @mortise.wait_timeout,
    sql_safe_updates = @mortise.sql_safe_updates,
    sql_select_limit = @mortise.sql_select_limit,
    sql_big_selects = @mortise.sql_big_selects,
    completion_type = @mortise.completion_type
