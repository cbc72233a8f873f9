-- Ends a transaction that failed, in vain if there is none.
ROLLBACK
