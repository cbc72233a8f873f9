-- Where a connection leads: to the one database of its URL.
-- Returns neither id nor server.
SELECT '', ''
