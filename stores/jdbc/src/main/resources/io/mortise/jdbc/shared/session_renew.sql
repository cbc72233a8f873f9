-- Keeps a live session alive, unless somebody else renews it. A compare-and-set of the beat.
-- :session; :previous :beat = last confirmed and next beat; :expires_us = new end; :ttl_us = as of the column; :now_us = store clock
-- Changes one row, or none: dead, or a clone.
UPDATE mortise_session SET beat = :beat, expires_us = :expires_us, ttl_us = :ttl_us
WHERE id = :session AND expires_us > :now_us AND (beat = :previous OR beat = :beat)
