-- Of the given sessions that claim a connection lock, those without a connection.
-- :sessions; :connections = what the name of a connection lock begins with
-- Returns of each: its id, 1 if it has none.
SELECT id, IS_FREE_LOCK(CONCAT(:connections, id)) FROM mortise_session WHERE id IN (:sessions...)
