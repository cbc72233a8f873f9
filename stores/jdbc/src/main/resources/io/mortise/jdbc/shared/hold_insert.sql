-- A new hold of a part of the capacity.
-- :namespace :name :attempt; the others = the columns of their names
INSERT INTO mortise_hold (namespace, name, attempt, place, weight, token, tokens, since_us, free_us, shut_us, label, told, evicted)
VALUES (:namespace, :name, :attempt, :place, :weight, :token, :tokens, :since_us, :free_us, :shut_us, :label, :told, :evicted)
