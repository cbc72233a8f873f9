-- A new fact about the tables.
-- :fact :value
INSERT INTO mortise_meta (fact, value) VALUES (:fact, :value)
