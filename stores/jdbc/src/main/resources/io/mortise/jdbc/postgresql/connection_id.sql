-- What the server calls this connection.
SELECT pg_backend_pid()
