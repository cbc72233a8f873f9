-- The facts about the tables.
SELECT fact, content FROM mortise_meta
