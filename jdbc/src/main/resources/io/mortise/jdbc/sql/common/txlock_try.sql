-- Locks the row of a lock until the transaction ends, unless another has it. ? = name
-- Returns token; no row if another has it. PostgreSQL 9.5, MySQL 8.0.1, MariaDB 10.6, H2 2.2.220.
SELECT token FROM mortise_txlock WHERE name = ? FOR UPDATE SKIP LOCKED
