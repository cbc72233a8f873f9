-- How many connections a server has, and how many replicas read from it. Readable by every user.
-- Returns names and values; a server that lacks one of them leaves it out.
SHOW GLOBAL STATUS WHERE Variable_name IN ('Threads_connected', 'Slaves_connected', 'Rpl_semi_sync_master_clients', 'Rpl_semi_sync_source_clients')
