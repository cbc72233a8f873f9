-- Documents by their keys.
-- :doc_keys = which; may name one several times
-- Returns keys, versions and texts of those that are there.
SELECT doc_key, doc_version, doc_text FROM mortise_document WHERE doc_key IN (:doc_keys...)
