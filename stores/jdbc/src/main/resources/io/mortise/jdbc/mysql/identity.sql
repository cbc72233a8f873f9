-- Where a connection leads.
-- Returns the id of the tables, which is replicated with them, and what tells this server from others.
SELECT (SELECT content FROM mortise_meta WHERE fact = 'id'), CONCAT_WS(' ', CONCAT(@@hostname, ':', @@port), @@server_uuid)
