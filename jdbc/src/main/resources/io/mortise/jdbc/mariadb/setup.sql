-- Settings of a connection. UTC: no hour comes twice. Strict: a name that is too long is refused, not cut.
-- :wait_s = the longest wait for a row's lock, which also bounds the wait for a table's; :statement_s = the longest statement;
-- :idle_s = after this long without a word the server ends the connection, and after :statement_s a transaction in it
SET SESSION time_zone = '+00:00',
    sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION',
    innodb_lock_wait_timeout = :wait_s,
    lock_wait_timeout = :wait_s,
    max_statement_time = :statement_s,
    idle_transaction_timeout = :statement_s,
    wait_timeout = :idle_s
