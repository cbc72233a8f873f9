-- Takes the named lock that shows others that the process of a session has a connection: it ends with the connection, in whatever way
-- that ends. Waits for nobody: an old connection of the process may still be ending.
-- :connection = name of the lock
-- Returns 1 if it was taken, else 0.
SELECT GET_LOCK(:connection, 0)
