-- Whether this user may try the advisory locks of others, as hand_off and disconnected do. Everybody may, unless somebody has
-- revoked it.
SELECT has_function_privilege('pg_try_advisory_xact_lock_shared(bigint)', 'EXECUTE')
   AND has_function_privilege('hashtextextended(text, bigint)', 'EXECUTE')
