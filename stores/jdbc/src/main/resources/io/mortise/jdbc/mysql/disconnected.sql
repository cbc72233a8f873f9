-- Which of some sessions have no connection any more, of those that have said that they hold a connection lock.
-- :sessions; :connections = what the name of a connection lock begins with
-- Returns of each: its id, 1 if it has none.
SELECT id, IS_FREE_LOCK(CONCAT(:connections, id)) FROM mortise_session WHERE id IN (:sessions...)
