-- Begins a transaction, and keeps a live session alive by the clock of the server, unless somebody else renews it. A compare-and-set of
-- the beat.
-- :session; :previous :beat = last confirmed and next beat; :lives_us = from now on; :ttl_us = as of the column;
-- :strict = 1 if it lives although its time is over
-- Time: clock_timestamp(), before the row is locked: its end is early rather than late.
-- Returns the clock; no row: dead, or a clone, and nothing was changed.
BEGIN;
WITH t AS MATERIALIZED (SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) AS us)
UPDATE mortise_session s SET beat = :beat, expires_us = t.us + :lives_us, ttl_us = :ttl_us
FROM t
WHERE s.id = :session AND (:strict = 1 OR s.expires_us > t.us) AND (s.beat = :previous OR s.beat = :beat)
RETURNING t.us
