-- The server's id of this connection.
SELECT SESSION_ID()
