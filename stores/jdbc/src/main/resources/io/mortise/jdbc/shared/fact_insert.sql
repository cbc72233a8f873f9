-- A text under a name that has none. Two of them at a time: the primary key refuses the second, which is done again and finds
-- the first.
-- :namespace :name = which; :version :content = the text; :expires_us = until when it is kept
INSERT INTO mortise_fact (namespace, name, version, content, expires_us) VALUES (:namespace, :name, :version, :content, :expires_us)
