-- Begins a transaction, and keeps a live session alive by the clock of the server, unless somebody else renews it. A compare-and-set of
-- the beat.
-- :session; :previous :beat = last confirmed and next beat; :lives_us = from now on; :ttl_us = as of the column;
-- :strict = 1 if it lives although its time is over
-- Time: SYSDATE, before the row is locked: its end is early rather than late.
-- Returns the clock; no row: dead, or a clone, or the server is read-only, as for a user who may write all the same; nothing was
-- changed then.
SET @mortise_us = CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED);
START TRANSACTION;
UPDATE mortise_session SET beat = :beat, expires_us = @mortise_us + :lives_us, ttl_us = :ttl_us
WHERE id = :session AND (:strict = 1 OR expires_us > @mortise_us) AND (beat = :previous OR beat = :beat)
  AND CAST(@@GLOBAL.read_only AS CHAR) IN ('0', 'OFF');
SELECT @mortise_us FROM DUAL WHERE ROW_COUNT() > 0
