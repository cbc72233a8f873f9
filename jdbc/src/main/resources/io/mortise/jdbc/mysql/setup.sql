-- Settings of a connection. UTC: no hour comes twice. Strict: a name that is too long is refused, not cut.
-- :wait_s = the longest wait for a row's lock, which also bounds the wait for a table's; :statement_s = the longest reading;
-- :idle_s = after this long without a word the server ends the connection; within a transaction, see transaction_open, after
-- :statement_s
SET SESSION time_zone = '+00:00',
    sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION',
    innodb_lock_wait_timeout = :wait_s,
    lock_wait_timeout = :wait_s,
    max_execution_time = :statement_s * 1000,
    wait_timeout = :idle_s,
    @mortise.idle_s = :idle_s,
    @mortise.open_s = :statement_s
