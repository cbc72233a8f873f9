-- A document.
-- :doc_key = which
-- Returns its version and its text; no row if there is none.
SELECT doc_version, doc_text FROM mortise_document WHERE doc_key = :doc_key
