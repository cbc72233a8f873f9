-- Makes a document. The primary key refuses a second one of that key.
-- :doc_key = its key; :doc_name = the key for people and lists; :doc_version :doc_text = what it is
INSERT INTO mortise_document (doc_key, doc_name, doc_version, doc_text)
VALUES (:doc_key, :doc_name, :doc_version, :doc_text)
