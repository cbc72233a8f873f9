-- Undoes what setup has set, for a connection that goes back into a pool: the server's own settings hold again.
SET SESSION time_zone = DEFAULT,
    sql_mode = DEFAULT,
    innodb_lock_wait_timeout = DEFAULT,
    lock_wait_timeout = DEFAULT,
    max_execution_time = DEFAULT,
    wait_timeout = DEFAULT
