-- Whether a table is there, on the search path.
-- :table_name
-- Returns 1 (equality of text is of its bytes, whatever the collation); no row: there is no such table.
SELECT 1 WHERE to_regclass(:table_name) IS NOT NULL
