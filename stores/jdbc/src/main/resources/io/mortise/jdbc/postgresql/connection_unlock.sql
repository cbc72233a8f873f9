-- Gives back what connection_lock has taken on this connection.
-- :connection = name of the lock
SELECT pg_advisory_unlock(hashtextextended(:connection, 0))
