-- The front of the queue, or the waiters behind a ticket.
-- :namespace :name; :after = ticket of that place, -1 for the front; :row_limit
SELECT * FROM mortise_wait WHERE namespace = :namespace AND name = :name AND ticket > :after ORDER BY ticket LIMIT :row_limit
