-- Removes a document, if it has the expected version.
-- :doc_key = which; :expected = its version
DELETE FROM mortise_document WHERE doc_key = :doc_key AND doc_version = :expected
