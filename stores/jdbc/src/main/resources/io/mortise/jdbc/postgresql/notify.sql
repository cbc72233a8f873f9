-- Wakes the process of a session; a statement behind a COMMIT in one flush is a transaction of its own. A notifying transaction
-- waits until all others of the server, in any database, are on the disk. That is no reason to fail: the notification's content
-- is committed.
-- :channel = of the session; :payload = the news
SELECT set_config('lock_timeout', '0', true), pg_notify(:channel, :payload)
