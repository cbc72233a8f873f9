-- Of the given sessions that claim a connection lock, those without a connection. Tried as hand_off does it: waits for nobody,
-- and ends with the transaction.
-- :sessions; :connections = what the name of a connection lock begins with
-- Returns of each: its id, 1 if it has none.
SELECT id, CASE WHEN pg_try_advisory_xact_lock_shared(hashtextextended(:connections || id, 0)) THEN 1 ELSE 0 END
FROM mortise_session WHERE id IN (:sessions...)
