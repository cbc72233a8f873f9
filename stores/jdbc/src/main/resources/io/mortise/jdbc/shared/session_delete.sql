-- Ends a session.
-- :session
DELETE FROM mortise_session WHERE id = :session
