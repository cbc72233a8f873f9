-- Whether a table is there, in an engine that has transactions, and compares lock names by their bytes.
-- :table_name
-- Returns 1; 0 where upper and lower case, accents or blanks at the end are not told apart; -1 without transactions; no
-- row: there is no such table.
SELECT CASE WHEN t.ENGINE <> 'InnoDB' THEN -1
            WHEN c.COLLATION_NAME IN ('utf8mb4_0900_bin', 'utf8mb4_nopad_bin') THEN 1
            ELSE 0 END
FROM information_schema.COLUMNS c
JOIN information_schema.TABLES t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME
WHERE c.TABLE_SCHEMA = DATABASE() AND c.TABLE_NAME = :table_name AND c.COLUMN_NAME IN ('name', 'fact')
