-- Whether a table is there, and lock names are compared by their characters.
-- :table_name
-- Returns 1, or 0 where upper and lower case or accents are not told apart; no row: there is no such table.
SELECT CASE WHEN DATA_TYPE <> 'CHARACTER VARYING' OR 'a' = 'A' OR 'a' = 'á' THEN 0 ELSE 1 END
FROM INFORMATION_SCHEMA.COLUMNS
WHERE TABLE_SCHEMA = CURRENT_SCHEMA AND UPPER(TABLE_NAME) = UPPER(:table_name) AND UPPER(COLUMN_NAME) IN ('NAME', 'FACT')
