-- All that a step about one lock may ask for, in one flush. FOR UPDATE: nobody else decides meanwhile. Each of the
-- statements that follow sees what was committed before it began, hence all that was decided before.
-- :namespace :name = the lock; :attempt :session = who asks; :attempts = that one, and others who ask with it; :heads :holds :ahead = how many of them
-- Returns, one after the other: the lock, the clock, the head of the queue, those who ask in the queue, the holders of a
-- part, when the first session ends of those ahead of the asker, the sessions of all of them.
BEGIN;
SELECT * FROM mortise_lock WHERE namespace = :namespace AND name = :name FOR UPDATE;
SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint);
SELECT * FROM mortise_wait WHERE namespace = :namespace AND name = :name ORDER BY ticket LIMIT :heads;
SELECT * FROM mortise_wait WHERE namespace = :namespace AND name = :name AND attempt IN (:attempts...);
SELECT * FROM mortise_hold WHERE namespace = :namespace AND name = :name ORDER BY place LIMIT :holds;
SELECT min(s.expires_us)
FROM (SELECT session FROM mortise_wait
      WHERE namespace = :namespace AND name = :name
        AND ticket < coalesce((SELECT ticket FROM mortise_wait
                               WHERE namespace = :namespace AND name = :name AND attempt = :attempt), 9223372036854775807)
      ORDER BY ticket LIMIT :ahead) w
JOIN mortise_session s ON s.id = w.session
WHERE s.expires_us > CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint);
SELECT * FROM mortise_session
WHERE id = ANY (ARRAY(
  SELECT CAST(:session AS text)
  UNION ALL
  SELECT substr(owner, 1, 12) FROM mortise_lock WHERE namespace = :namespace AND name = :name AND owner IS NOT NULL
  UNION ALL
  (SELECT session FROM mortise_wait WHERE namespace = :namespace AND name = :name ORDER BY ticket LIMIT :heads)
  UNION ALL
  (SELECT substr(attempt, 1, 12) FROM mortise_hold WHERE namespace = :namespace AND name = :name ORDER BY place LIMIT :holds)))
