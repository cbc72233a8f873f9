-- Gives back what connection_lock has taken on this connection.
-- :connection = name of the lock
SELECT RELEASE_LOCK(:connection)
