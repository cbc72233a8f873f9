-- Ends a transaction, in one text with its last writes.
COMMIT
