-- Ends a session whose TTL has passed. A step of its own; no other decides that a holder is dead.
-- :session; :now_us = store clock
DELETE FROM mortise_session WHERE id = :session AND expires_us <= :now_us
