-- Moves the first holds behind the last, so that each gets its turn to be looked at.
-- :namespace :name; :up_to = place of the last to move; :shift = how far
UPDATE mortise_hold SET place = place + :shift WHERE namespace = :namespace AND name = :name AND place <= :up_to
