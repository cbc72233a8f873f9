-- Writes back what a step decided about a hold.
-- :namespace :name :attempt; the others = the columns of their names
UPDATE mortise_hold
SET weight = :weight, token = :token, tokens = :tokens, free_us = :free_us, shut_us = :shut_us, told = :told, evicted = :evicted
WHERE namespace = :namespace AND name = :name AND attempt = :attempt
