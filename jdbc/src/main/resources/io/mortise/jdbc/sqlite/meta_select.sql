-- The facts about the tables.
SELECT fact, value FROM mortise_meta
