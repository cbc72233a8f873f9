-- News that was left while its session ended. The inner table, because a statement must not read what it deletes.
-- :row_limit
DELETE FROM mortise_news
WHERE id IN (SELECT id FROM (SELECT n.id FROM mortise_news n
                             WHERE NOT EXISTS (SELECT 1 FROM mortise_session s WHERE s.id = n.session) LIMIT :row_limit) o)
