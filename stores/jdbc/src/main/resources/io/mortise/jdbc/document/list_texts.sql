-- Documents of one kind, in the order of their keys. The driver is told how many are wanted at most.
-- :after = the key before the first; :last = the greatest key of the kind
-- Returns keys, names, versions and texts.
SELECT doc_key, doc_name, doc_version, doc_text FROM mortise_document
WHERE doc_key > :after AND doc_key <= :last ORDER BY doc_key
