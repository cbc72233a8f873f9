-- Takes the advisory lock that shows others that the process of a session has a connection: it ends with the connection, in whatever
-- way that ends. Behind a pooler, where a connection outlives its process and is shared, the server's process is another than the one
-- that the driver was told of; then nothing is taken. Waits for nobody: an old connection of the process may still be ending.
-- :connection = name of the lock; :backend = the server's process as the driver knows it
-- Returns 1 if it was taken, else 0.
SELECT CASE WHEN pg_backend_pid() <> :backend THEN 0
            WHEN pg_try_advisory_lock(hashtextextended(:connection, 0)) THEN 1 ELSE 0 END
