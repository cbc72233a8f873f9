-- How long this connection waits for locks from now on. ? = a setting, such as 0 or 5s. Returns it.
SELECT set_config('lock_timeout', ?, false)
