-- Changes a fact about the tables.
-- :fact :value
UPDATE mortise_meta SET value = :value WHERE fact = :fact
