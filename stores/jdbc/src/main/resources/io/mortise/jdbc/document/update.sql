-- Replaces a document, if it has the expected version: of two that expect the same, the second changes no row.
-- :doc_key = which; :expected = its version; :doc_version :doc_text = what it becomes
UPDATE mortise_document SET doc_version = :doc_version, doc_text = :doc_text
WHERE doc_key = :doc_key AND doc_version = :expected
