-- Begins a transaction, and reads all that a step about one lock may ask for, in one text. FOR UPDATE: nobody else decides
-- meanwhile. READ COMMITTED: each of the statements that follow sees what was committed before it began, hence all that was
-- decided before.
-- :namespace :name = the lock; :attempt :session = who asks; :attempts = that one, and others who ask with it; :heads :holds :ahead = how many of them
-- Returns, one after the other: the lock, the clock, the head of the queue, those who ask in the queue, the holders of a
-- part, when the first session ends of those ahead of the asker, the sessions of the asker, the owner, the head and the holders.
START TRANSACTION;
SELECT * FROM mortise_lock WHERE namespace = :namespace AND name = :name FOR UPDATE;
SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED);
SELECT * FROM mortise_wait WHERE namespace = :namespace AND name = :name ORDER BY ticket LIMIT :heads;
SELECT * FROM mortise_wait WHERE namespace = :namespace AND name = :name AND attempt IN (:attempts...);
SELECT * FROM mortise_hold WHERE namespace = :namespace AND name = :name ORDER BY place LIMIT :holds;
SELECT MIN(s.expires_us)
FROM (SELECT session FROM mortise_wait
      WHERE namespace = :namespace AND name = :name
        AND ticket < COALESCE((SELECT ticket FROM mortise_wait
                               WHERE namespace = :namespace AND name = :name AND attempt = :attempt), 9223372036854775807)
      ORDER BY ticket LIMIT :ahead) w
STRAIGHT_JOIN mortise_session s ON s.id = w.session
WHERE s.expires_us > CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED);
SELECT * FROM mortise_session WHERE id = :session;
SELECT s.* FROM mortise_lock k STRAIGHT_JOIN mortise_session s ON s.id = SUBSTR(k.owner, 1, 12)
WHERE k.namespace = :namespace AND k.name = :name;
SELECT s.*
FROM (SELECT session FROM mortise_wait WHERE namespace = :namespace AND name = :name ORDER BY ticket LIMIT :heads) w
STRAIGHT_JOIN mortise_session s ON s.id = w.session;
SELECT s.*
FROM (SELECT attempt FROM mortise_hold WHERE namespace = :namespace AND name = :name ORDER BY place LIMIT :holds) h
STRAIGHT_JOIN mortise_session s ON s.id = SUBSTR(h.attempt, 1, 12)
