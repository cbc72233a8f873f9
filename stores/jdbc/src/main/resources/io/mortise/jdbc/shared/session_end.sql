-- Ends a session whose beat somebody saw stand still for its whole TTL, unless it has moved since. No clock is asked.
-- :session :beat
-- A renewal comes before, and is another beat, or after, and finds no session.
DELETE FROM mortise_session WHERE id = :session AND beat = :beat
