-- A new lock, not held.
-- :namespace :name = the lock; :capacity = fixed from now on; :now_us = store clock
INSERT INTO mortise_lock (namespace, name, capacity, used, owner, token, tokens, since_us, free_us, shut_us, label,
  told, evicted, last_token, next_place, next_ticket, waiters, closed_us, touched_us, ended, ended_was, ended_how)
VALUES (:namespace, :name, :capacity, 0, NULL, 0, 0, 0, 0, 0, '', 0, 0, 0, 0, 0, 0, 0, :now_us, NULL, 'HELD', 'RELEASED')
