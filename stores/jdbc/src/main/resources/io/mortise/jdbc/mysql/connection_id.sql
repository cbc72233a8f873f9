-- What the server calls this connection.
SELECT CONNECTION_ID()
