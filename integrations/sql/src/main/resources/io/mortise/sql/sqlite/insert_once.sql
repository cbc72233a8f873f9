-- Inserts a row of a user's table unless one with its key is there. Other faults are errors, unlike with OR IGNORE.
-- {table} {columns} {values} = what
-- Changes one row, or none.
INSERT INTO {table} ({columns}) VALUES ({values}) ON CONFLICT DO NOTHING
