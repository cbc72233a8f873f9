-- When the first session ends of those that wait ahead and still live; null if there is none.
-- :namespace :name; :ticket = places before this one; :now_us = store clock; :row_limit = so many of them
SELECT MIN(s.expires_us)
FROM (SELECT session FROM mortise_wait WHERE namespace = :namespace AND name = :name AND ticket < :ticket
      ORDER BY ticket LIMIT :row_limit) w
JOIN mortise_session s ON s.id = w.session
WHERE s.expires_us > :now_us
