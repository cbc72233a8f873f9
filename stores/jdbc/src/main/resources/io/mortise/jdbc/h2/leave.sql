-- Undoes what setup has set, for a connection that goes back into a pool.
SET LOCK_TIMEOUT @lock_timeout_before_mortise;
SET QUERY_TIMEOUT @query_timeout_before_mortise
