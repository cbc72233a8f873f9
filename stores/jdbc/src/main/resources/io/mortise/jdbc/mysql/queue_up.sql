-- Takes a whole lock if it is free, else joins the queue behind its holder: the common case of LockTable, in one text, for an
-- attempt that expects to find it held. First the row is locked; so what the statements that follow see (READ COMMITTED) is
-- fresh, and nobody else decides meanwhile. The common case: the holder of the whole lock lives, is not over or evicted, and so
-- does the head of the queue. Statements pass their results to the next in variables of the connection, which are set first,
-- since a variable without a value has a type of its own.
-- :namespace :name = the lock; :attempt :session = who; :capacity = of the lock, all of it is wanted
-- :tokens :token_floor = block wished for, least token
-- :at_most_us :at_least_us = lengths, -1 for none; :label = for people; :ahead = of how many the sessions are looked at
-- Time: SYSDATE, with the row in hand.
-- Returns null, token, tokens and five numbers that say nothing if it was taken; or of the holder attempt, token, told before,
-- what is left of its session, end of its at-most time, then how many are ahead, when the first session of theirs ends (or null),
-- the clock. No row: nothing was changed, and the slow path decides.
SET @mortise_us = 0, @mortise_life = 0, @mortise_holder = NULL, @mortise_told = 0, @mortise_left = 0,
    @mortise_first = -1, @mortise_first_session = NULL, @mortise_first_life = 0;
START TRANSACTION;
SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) INTO @mortise_us
FROM mortise_lock WHERE namespace = :namespace AND name = :name FOR UPDATE;
SELECT expires_us INTO @mortise_life FROM mortise_session WHERE id = :session;
UPDATE mortise_lock
SET touched_us = @mortise_us,
    owner      = :attempt,
    used       = capacity,
    token      = GREATEST(last_token + 1, @mortise_us, :token_floor),
    tokens     = LEAST(:tokens, GREATEST(1, @mortise_us + 1000000 - token)),
    last_token = token + tokens - 1,
    since_us   = @mortise_us,
    free_us    = IF(:at_most_us < 0, 9223372036854775807, @mortise_us + :at_most_us),
    shut_us    = IF(:at_least_us < 0, 0, @mortise_us + :at_least_us),
    label      = :label,
    told       = 0,
    evicted    = 0
WHERE namespace = :namespace AND name = :name
  AND used = 0 AND waiters = 0 AND capacity = :capacity AND closed_us <= @mortise_us AND NOT (ended <=> :attempt)
  AND @mortise_life > @mortise_us;
SET @mortise_taken = ROW_COUNT();
SELECT ticket, session INTO @mortise_first, @mortise_first_session
FROM mortise_wait WHERE namespace = :namespace AND name = :name ORDER BY ticket LIMIT 1;
SELECT expires_us INTO @mortise_first_life FROM mortise_session WHERE id = @mortise_first_session;
SELECT k.owner, k.told, LEAST(s.expires_us - @mortise_us, s.ttl_us) INTO @mortise_holder, @mortise_told, @mortise_left
FROM mortise_lock k STRAIGHT_JOIN mortise_session s ON s.id = SUBSTR(k.owner, 1, 12)
WHERE k.namespace = :namespace AND k.name = :name
  AND k.used > 0 AND k.owner <> :attempt AND NOT (k.ended <=> :attempt) AND k.capacity = :capacity
  AND k.evicted = 0 AND k.free_us > @mortise_us AND k.closed_us <= @mortise_us AND @mortise_life > @mortise_us
  AND s.expires_us > @mortise_us AND s.expires_us - @mortise_us <= s.ttl_us + 100000
  AND (k.waiters = 0 AND @mortise_first < 0 OR k.waiters > 0 AND @mortise_first_life > @mortise_us)
  AND NOT EXISTS (SELECT 1 FROM mortise_wait w WHERE w.namespace = :namespace AND w.name = :name AND w.attempt = :attempt);
UPDATE mortise_lock
SET waiters     = waiters + 1,
    next_ticket = next_ticket + 1,
    told        = IF(told & 1 = 1, told, 3),
    touched_us  = @mortise_us
WHERE namespace = :namespace AND name = :name AND owner = @mortise_holder;
INSERT INTO mortise_wait (namespace, name, ticket, attempt, session, weight, tokens, token_floor, at_most_us, at_least_us, label,
  since_us)
SELECT namespace, name, next_ticket - 1, :attempt, :session, capacity, :tokens, :token_floor, :at_most_us, :at_least_us, :label,
  @mortise_us
FROM mortise_lock WHERE namespace = :namespace AND name = :name AND owner = @mortise_holder;
INSERT INTO mortise_news (session, kind, name, attempt, token, tokens, flag, timed, how)
SELECT SUBSTR(owner, 1, 12), 'wanted', name, owner, 0, 0, 0, 0, ''
FROM mortise_lock WHERE namespace = :namespace AND name = :name AND owner = @mortise_holder AND @mortise_told & 1 = 0;
SELECT @mortise_holder, token, CAST(IF(@mortise_holder IS NULL, tokens, @mortise_told) AS SIGNED), CAST(@mortise_left AS SIGNED), free_us,
  CAST(IF(@mortise_holder IS NULL, 0, waiters - 1) AS SIGNED),
  IF(@mortise_first < 0, NULL,
     (SELECT MIN(s.expires_us)
      FROM (SELECT session FROM mortise_wait WHERE namespace = :namespace AND name = :name AND attempt <> :attempt
            ORDER BY ticket LIMIT :ahead) w
      STRAIGHT_JOIN mortise_session s ON s.id = w.session
      WHERE s.expires_us > @mortise_us)),
  CAST(@mortise_us AS SIGNED)
FROM mortise_lock
WHERE namespace = :namespace AND name = :name
  AND (@mortise_taken = 1 AND owner = :attempt OR owner = @mortise_holder);
COMMIT
