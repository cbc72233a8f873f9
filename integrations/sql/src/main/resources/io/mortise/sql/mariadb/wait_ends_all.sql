-- Whether the end of a wait for a row lock rolls back the whole transaction. Returns 0 or 1.
SELECT @@innodb_rollback_on_timeout
