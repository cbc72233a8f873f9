-- What the server calls this connection.
SELECT SESSION_ID()
