-- Ends a transaction, in one flush with its last writes.
COMMIT
