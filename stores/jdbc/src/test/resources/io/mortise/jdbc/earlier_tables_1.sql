-- Rows as release 0.1.0 writes them. Never changed: a release that writes others adds a file of its own.
-- :now is replaced by the time in µs. The process EarlierLives renews on, the process EarlierEnded has died.

INSERT INTO mortise_session (id, beat, expires_us, ttl_us, client) VALUES
  ('EarlierLives', 10, :now + 3600000000, 30000000, 'host 1 earlier'),
  ('EarlierEnded', 10, :now - 1, 30000000, 'host 2 earlier');

INSERT INTO mortise_lock (namespace, name, capacity, used, owner, token, tokens, since_us, free_us, shut_us, label, told,
  evicted, last_token, next_place, next_ticket, waiters, closed_us, touched_us, ended, ended_was, ended_how) VALUES
  ('default', 'held', 1000000, 1000000, 'EarlierLives---------0', 1795644803853586, 1, 1795644803853586,
    9223372036854775807, 0, '', 0, 0, 1795644803853586, 0, 0, 0, 0, :now, NULL, 'HELD', 'RELEASED'),
  ('default', 'awaited', 1000000, 1000000, 'EarlierLives---------1', 1795644803853587, 1, 1795644803853587,
    9223372036854775807, 0, '', 3, 0, 1795644803853587, 0, 1, 1, 0, :now, NULL, 'HELD', 'RELEASED'),
  ('default', 'dead', 1000000, 1000000, 'EarlierEnded---------0', 7000000000000000, 1, 1795644803853588,
    9223372036854775807, 0, '', 0, 0, 7000000000000000, 0, 0, 0, 0, :now, NULL, 'HELD', 'RELEASED'),
  ('default', 'shared', 1000000, 1, NULL, 0, 0, 0, 0, 0, '', 0, 0, 1795644804304521, 1, 0, 0, 0, :now, NULL,
    'HELD', 'RELEASED'),
  ('default', 'permits', 3, 2, NULL, 0, 0, 0, 0, 0, '', 0, 0, 1795644804358640, 1, 0, 0, 0, :now, NULL,
    'HELD', 'RELEASED'),
  ('default', 'free', 1000000, 0, NULL, 8000000000000000, 1, 1795644804374817, 9223372036854775807, 0, '', 0, 0,
    8000000000000000, 0, 0, 0, 0, :now, 'EarlierLives---------4', 'HELD', 'RELEASED'),
  ('default', 'shut', 1000000, 0, NULL, 1795644804402026, 1, 1795644804402026, 9223372036854775807,
    :now + 3600000000, 'x', 0, 0, 1795644804402026, 0, 0, 0, :now + 3600000000, :now, 'EarlierLives---------5',
    'HELD', 'RELEASED');

INSERT INTO mortise_hold (namespace, name, attempt, place, weight, token, tokens, since_us, free_us, shut_us, label, told,
  evicted) VALUES
  ('default', 'shared', 'EarlierLives---------2', 0, 1, 1795644804304521, 1, 1795644804304521, 9223372036854775807, 0,
    '', 0, 0),
  ('default', 'permits', 'EarlierLives---------3', 0, 2, 1795644804358640, 1, 1795644804358640, 9223372036854775807, 0,
    '', 0, 0);

INSERT INTO mortise_wait (namespace, name, ticket, attempt, session, weight, tokens, token_floor, at_most_us,
  at_least_us, label, since_us) VALUES
  ('default', 'awaited', 0, 'EarlierLives---------6', 'EarlierLives', 1000000, 1, 0, -1, -1, '', 1795644804225517);

INSERT INTO mortise_news (session, kind, name, attempt, token, tokens, flag, timed, how) VALUES
  ('EarlierLives', 'wanted', 'awaited', 'EarlierLives---------1', 0, 0, 0, 0, '');
