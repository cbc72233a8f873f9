-- Replaces the text under a name, if it is the expected one: of two that expect the same, the second finds another version.
-- :namespace :name = which; :expected = its version; :version :content = the new text; :expires_us = until when it is kept
UPDATE mortise_fact SET version = :version, content = :content, expires_us = :expires_us
WHERE namespace = :namespace AND name = :name AND version = :expected
