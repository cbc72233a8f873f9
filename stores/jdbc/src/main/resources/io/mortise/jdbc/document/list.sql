-- Names of documents of one kind, in the order of their keys. The driver is told how many are wanted at most.
-- :after = the key before the first; :last = the greatest key of the kind
-- Returns keys and names.
SELECT doc_key, doc_name FROM mortise_document WHERE doc_key > :after AND doc_key <= :last ORDER BY doc_key
