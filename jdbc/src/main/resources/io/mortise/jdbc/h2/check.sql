-- What the database must have: columns of plain text, compared by their characters.
-- :table_name = of the locks
-- Returns the type of the name column and whether 'a' equals 'A' or 'á' (1); no row: there is no table.
SELECT DATA_TYPE, CASE WHEN 'a' = 'A' OR 'a' = 'á' THEN 1 ELSE 0 END
FROM INFORMATION_SCHEMA.COLUMNS
WHERE TABLE_SCHEMA = CURRENT_SCHEMA AND UPPER(TABLE_NAME) = UPPER(:table_name) AND UPPER(COLUMN_NAME) = 'NAME'
