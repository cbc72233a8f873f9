-- A new place at the end of the queue.
-- :namespace :name :attempt :session; the others = the columns of their names
INSERT INTO mortise_wait (namespace, name, ticket, attempt, session, weight, tokens, token_floor, at_most_us, at_least_us, label, since_us)
VALUES (:namespace, :name, :ticket, :attempt, :session, :weight, :tokens, :token_floor, :at_most_us, :at_least_us, :label, :now_us)
