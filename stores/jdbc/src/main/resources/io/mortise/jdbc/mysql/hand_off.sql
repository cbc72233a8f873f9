-- Releases a whole lock that others are known to want, and grants it to the head of its queue, if that lives, wants the whole
-- lock and would hear of it, or to nobody if the queue is empty: the two steps of LockTable in one text. First the row is locked;
-- so what the statements that follow see (READ COMMITTED) is fresh, and nobody else decides meanwhile. Statements pass their
-- results to the next in variables of the connection, which are set first, since a variable without a value has a type of its
-- own.
-- :namespace :name = the lock; :attempt = who releases; :connections = what the name of a connection lock begins with
-- A head that has said that its process holds a connection lock, and of which nobody holds it now, has no connection any more.
-- Time: SYSDATE, with the row in hand.
-- Returns attempt, token, tokens, told, end of the at-most time of the heir, null if there is none; no row: nothing was changed,
-- and the slow path decides.
SET @mortise_us = 0, @mortise_heir = NULL, @mortise_weight = 0, @mortise_tokens = 0, @mortise_floor = 0, @mortise_at_most = 0,
    @mortise_at_least = 0, @mortise_label = '', @mortise_life = 0, @mortise_disconnected = 0;
START TRANSACTION;
SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) INTO @mortise_us
FROM mortise_lock WHERE namespace = :namespace AND name = :name FOR UPDATE;
SELECT attempt, weight, tokens, token_floor, at_most_us, at_least_us, label
INTO @mortise_heir, @mortise_weight, @mortise_tokens, @mortise_floor, @mortise_at_most, @mortise_at_least, @mortise_label
FROM mortise_wait WHERE namespace = :namespace AND name = :name ORDER BY ticket LIMIT 1;
SELECT expires_us, IF(ttl_us % 2 = 1, IS_FREE_LOCK(CONCAT(:connections, id)), 0)
INTO @mortise_life, @mortise_disconnected
FROM mortise_session WHERE id = SUBSTR(@mortise_heir, 1, 12);
UPDATE mortise_lock
SET touched_us = @mortise_us,
    closed_us  = GREATEST(closed_us, shut_us),
    owner      = COALESCE(@mortise_heir, owner),
    used       = IF(@mortise_heir IS NULL, 0, used),
    token      = IF(@mortise_heir IS NULL, token, GREATEST(last_token + 1, @mortise_us, @mortise_floor)),
    tokens     = IF(@mortise_heir IS NULL, tokens, LEAST(@mortise_tokens, GREATEST(1, @mortise_us + 1000000 - token))),
    last_token = IF(@mortise_heir IS NULL, last_token, token + tokens - 1),
    since_us   = IF(@mortise_heir IS NULL, since_us, @mortise_us),
    free_us    = IF(@mortise_heir IS NULL OR @mortise_at_most < 0, 9223372036854775807, @mortise_us + @mortise_at_most),
    shut_us    = IF(@mortise_heir IS NULL OR @mortise_at_least < 0, 0, @mortise_us + @mortise_at_least),
    label      = IF(@mortise_heir IS NULL, label, @mortise_label),
    told       = IF(@mortise_heir IS NULL, told, IF(waiters > 1, 3, 2)),
    waiters    = IF(@mortise_heir IS NULL, 0, waiters - 1),
    ended      = :attempt,
    ended_was  = 'HELD',
    ended_how  = 'RELEASED'
WHERE namespace = :namespace AND name = :name
  AND used > 0 AND owner = :attempt AND evicted = 0 AND free_us > @mortise_us
  AND (@mortise_heir IS NULL AND waiters = 0
       OR waiters > 0 AND @mortise_life > @mortise_us AND @mortise_disconnected = 0 AND @mortise_weight = capacity
          AND GREATEST(closed_us, shut_us) <= @mortise_us);
SET @mortise_done = ROW_COUNT();
DELETE FROM mortise_wait
WHERE namespace = :namespace AND name = :name AND attempt = @mortise_heir AND @mortise_done = 1;
DELETE FROM mortise_news WHERE attempt = :attempt AND kind <> 'gone' AND @mortise_done = 1;
INSERT INTO mortise_news (session, kind, name, attempt, token, tokens, flag, timed, how)
SELECT SUBSTR(owner, 1, 12), 'granted', name, owner, token, tokens, told & 1, IF(free_us = 9223372036854775807, 0, 1), ''
FROM mortise_lock WHERE namespace = :namespace AND name = :name AND owner = @mortise_heir AND @mortise_done = 1;
SELECT @mortise_heir, token, tokens, told, free_us
FROM mortise_lock WHERE namespace = :namespace AND name = :name AND @mortise_done = 1;
COMMIT
