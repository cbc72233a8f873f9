-- Removes a text, unless it was replaced by one that is kept longer.
-- :namespace :name = which; :now_us = store clock
DELETE FROM mortise_fact WHERE namespace = :namespace AND name = :name AND expires_us <= :now_us
