-- News that was left while its session ended.
-- :row_limit
DELETE FROM mortise_news
WHERE id IN (SELECT n.id FROM mortise_news n
             WHERE NOT EXISTS (SELECT 1 FROM mortise_session s WHERE s.id = n.session) LIMIT :row_limit)
