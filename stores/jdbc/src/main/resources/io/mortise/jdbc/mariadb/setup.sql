-- Settings of a connection. UTC: no hour comes twice. Strict: a name that is too long is refused, not cut. Lifts the server's
-- limit on reads and changes without a key. leave restores the previous settings.
-- :wait_s = the longest wait for a row's lock, which also bounds the wait for a table's; :statement_s = the longest statement;
-- :idle_s = after this long without a word the server ends the connection, and after :statement_s a transaction in it
SET @mortise.time_zone = @@SESSION.time_zone,
    @mortise.sql_mode = @@SESSION.sql_mode,
    @mortise.innodb_lock_wait_timeout = @@SESSION.innodb_lock_wait_timeout,
    @mortise.lock_wait_timeout = @@SESSION.lock_wait_timeout,
    @mortise.max_statement_time = @@SESSION.max_statement_time,
    @mortise.idle_transaction_timeout = @@SESSION.idle_transaction_timeout,
    @mortise.wait_timeout = @@SESSION.wait_timeout,
    @mortise.sql_safe_updates = @@SESSION.sql_safe_updates,
    @mortise.sql_select_limit = @@SESSION.sql_select_limit,
    @mortise.sql_big_selects = @@SESSION.sql_big_selects,
    @mortise.completion_type = @@SESSION.completion_type,
    SESSION time_zone = '+00:00',
    sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION',
    innodb_lock_wait_timeout = :wait_s,
    lock_wait_timeout = :wait_s,
    max_statement_time = :statement_s,
    idle_transaction_timeout = :statement_s,
    wait_timeout = :idle_s,
    sql_safe_updates = 0,
    sql_select_limit = 18446744073709551615,
    sql_big_selects = 1,
    completion_type = 'NO_CHAIN'
