-- The text under a name.
-- :namespace :name = which
-- Returns its version, the text, and until when it is kept; no row if there is none.
SELECT version, content, expires_us FROM mortise_fact WHERE namespace = :namespace AND name = :name
