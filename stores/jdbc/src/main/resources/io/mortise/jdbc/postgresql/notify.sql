-- Wakes the process of a session; what follows a COMMIT in one flush is a transaction of its own. Who notifies waits for all others
-- that do, in any database of the server, until they are on the disk: no reason to fail, for what was to be told is committed.
-- :channel = of the session; :payload = the news
SELECT set_config('lock_timeout', '0', true), pg_notify(:channel, :payload)
