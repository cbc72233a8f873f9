-- Inserts a row of a user's table unless one with its key is there. No error, which would end the whole transaction.
-- {table} {columns} {values} = what
-- Changes one row, or none.
INSERT INTO {table} ({columns}) VALUES ({values}) ON CONFLICT DO NOTHING
