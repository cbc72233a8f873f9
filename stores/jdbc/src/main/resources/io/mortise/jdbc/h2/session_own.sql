-- The session that the server runs for this connection. Its number alone says little: it begins anew with the server.
-- Returns number, begin.
SELECT SESSION_ID, CAST(SESSION_START AS VARCHAR) FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID = SESSION_ID()
