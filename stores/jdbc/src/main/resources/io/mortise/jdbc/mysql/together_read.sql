-- The outcomes of together. The attempt tells the served requests: an attempt that holds, or was the last to end, stays so until
-- the same process sends another request, or somebody waits or evicts.
-- :namespace; :requests = as there
-- Returns attempt, token, tokens of those that were served; a missing one is to be requested alone.
SELECT r.attempt, IF(r.capacity > 0, k.token, 0), IF(r.capacity > 0, k.tokens, 0)
FROM JSON_TABLE(:requests, '$[*]' COLUMNS (
  name     VARCHAR(512) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin PATH '$.n',
  attempt  VARCHAR(22)  CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin PATH '$.a',
  capacity BIGINT PATH '$.c')) r
STRAIGHT_JOIN mortise_lock k ON k.namespace = :namespace AND k.name = r.name
WHERE k.waiters = 0
  AND (r.capacity > 0
       AND k.used > 0 AND k.owner = r.attempt AND k.capacity = r.capacity AND k.told = 0 AND k.evicted = 0
       AND k.free_us = 9223372036854775807
    OR r.capacity = 0
       AND k.ended = r.attempt AND (k.used = 0 OR NOT (k.owner <=> r.attempt)) AND k.ended_was = 'HELD' AND k.ended_how = 'RELEASED')
