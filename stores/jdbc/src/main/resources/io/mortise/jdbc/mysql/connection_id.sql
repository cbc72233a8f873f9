-- The server's id of this connection.
SELECT CONNECTION_ID()
