-- A new fact about the tables.
-- :fact :content
INSERT INTO mortise_meta (fact, content) VALUES (:fact, :content)
