-- Writes back what a step decided. The transaction has read the row under the lock.
-- :namespace :name = the lock; the others = the columns of their names
UPDATE mortise_lock
SET capacity = :capacity, used = :used, owner = :owner, token = :token, tokens = :tokens, since_us = :since_us,
    free_us = :free_us, shut_us = :shut_us, label = :label, told = :told, evicted = :evicted,
    last_token = :last_token, next_place = :next_place, next_ticket = :next_ticket, waiters = :waiters,
    closed_us = :closed_us, touched_us = :touched_us, ended = :ended, ended_was = :ended_was, ended_how = :ended_how
WHERE namespace = :namespace AND name = :name
