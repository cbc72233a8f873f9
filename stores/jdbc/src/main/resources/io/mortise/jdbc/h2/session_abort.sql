-- Ends a session, and the transaction in it. A user without administrator rights sees only its own session, and ends none.
-- :number :began = as session_own told
-- Returns a row if there was one.
SELECT ABORT_SESSION(SESSION_ID) FROM INFORMATION_SCHEMA.SESSIONS
WHERE SESSION_ID = :number AND CAST(SESSION_START AS VARCHAR) = :began
