-- Ends a session no later than a whole TTL from now: it lasts longer only if the clock was set back. Unless it is renewed.
-- :session; :beat = as it was seen; :expires_us = a TTL from now
UPDATE mortise_session SET expires_us = :expires_us WHERE id = :session AND beat = :beat AND expires_us > :expires_us
