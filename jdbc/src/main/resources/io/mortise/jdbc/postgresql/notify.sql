-- Wakes the process of a session; what follows a COMMIT in one flush is a transaction of its own.
-- :channel = of the session; :payload = the news
SELECT pg_notify(:channel, :payload)
