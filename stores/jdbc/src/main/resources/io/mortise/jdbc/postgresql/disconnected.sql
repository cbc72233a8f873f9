-- Which of some sessions have no connection any more, of those that have said that they hold a connection lock. Tried as hand_off
-- does it: waits for nobody, and ends with the transaction.
-- :sessions; :connections = what the name of a connection lock begins with
-- Returns of each: its id, 1 if it has none.
SELECT id, CASE WHEN pg_try_advisory_xact_lock_shared(hashtextextended(:connections || id, 0)) THEN 1 ELSE 0 END
FROM mortise_session WHERE id IN (:sessions...)
