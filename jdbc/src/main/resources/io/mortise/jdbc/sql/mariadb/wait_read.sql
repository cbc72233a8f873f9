-- How long this session waits for row locks, and whether a wait that ends rolls back the whole transaction.
-- Returns seconds, 0 or 1.
SELECT @@innodb_lock_wait_timeout, @@innodb_rollback_on_timeout
