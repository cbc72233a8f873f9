-- Among some locks, those that are to be swept: a session which has ended holds or waits, or nobody used them for long. An
-- attempt begins with the id of its session, 12 characters. Locks nothing: each is looked at again in a step of its own.
-- :namespace; :after_name, :last_name = which; :idle_us = not used since; :now_us = store clock; :row_limit
SELECT l.name FROM mortise_lock l
WHERE l.namespace = :namespace AND l.name > :after_name AND l.name <= :last_name
  AND ((l.used = 0 AND l.waiters = 0 AND l.closed_us <= :now_us AND l.touched_us <= :idle_us)
    OR (l.owner IS NOT NULL AND l.used > 0 AND NOT EXISTS (
         SELECT 1 FROM mortise_session s WHERE s.id = substr(l.owner, 1, 12)))
    OR (l.owner IS NULL AND l.used > 0 AND EXISTS (
         SELECT 1 FROM mortise_hold h
         WHERE h.namespace = l.namespace AND h.name = l.name
           AND NOT EXISTS (SELECT 1 FROM mortise_session s WHERE s.id = substr(h.attempt, 1, 12))))
    OR (l.waiters > 0 AND EXISTS (
         SELECT 1 FROM mortise_wait w
         WHERE w.namespace = l.namespace AND w.name = l.name
           AND NOT EXISTS (SELECT 1 FROM mortise_session s WHERE s.id = w.session))))
ORDER BY l.name LIMIT :row_limit
