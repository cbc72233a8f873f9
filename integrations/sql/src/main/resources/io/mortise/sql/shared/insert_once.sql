-- Inserts a row of a user's table. One with its key is the error "duplicate", which ends this statement only.
-- {table} {columns} {values} = what
-- Changes one row.
INSERT INTO {table} ({columns}) VALUES ({values})
