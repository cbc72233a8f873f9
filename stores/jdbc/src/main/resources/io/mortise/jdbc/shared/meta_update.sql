-- Changes a fact about the tables.
-- :fact :content
UPDATE mortise_meta SET content = :content WHERE fact = :fact
