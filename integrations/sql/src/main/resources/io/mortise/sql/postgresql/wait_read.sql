-- How long this session waits for a lock. Returns a setting, such as 0 or 5s.
SELECT current_setting('lock_timeout')
