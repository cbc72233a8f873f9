-- The server's id of this connection.
SELECT pg_backend_pid()
