-- Where a connection leads.
-- Returns the id of the tables, which is replicated with them, and what tells this server from others.
SELECT (SELECT content FROM mortise_meta WHERE fact = 'id'),
  concat_ws(' ', host(inet_server_addr()) || ':' || inet_server_port(), 'started', pg_postmaster_start_time() AT TIME ZONE 'UTC')
