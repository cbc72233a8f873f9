-- Whether the server that is written to has a named lock, and for this very connection. A proxy may have sent the statement that took it
-- elsewhere: it sends this one where it sends writes, for it locks rows.
-- :connection = name of the lock
-- Returns 1 if so, else 0.
SELECT COALESCE(IS_USED_LOCK(:connection) = CONNECTION_ID(), 0) FROM DUAL FOR UPDATE
