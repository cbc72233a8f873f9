-- How long this transaction waits for a lock, to its end or to the rollback of a savepoint. ? = a setting
SELECT set_config('lock_timeout', ?, true)
