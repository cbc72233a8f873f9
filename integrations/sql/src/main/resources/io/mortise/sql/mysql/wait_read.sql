-- How long this session waits for row locks. Returns seconds.
SELECT @@innodb_lock_wait_timeout
