-- Settings of a server that is written to beside others: named locks are of one server, and say nothing of those who use another.
-- Returns names and values; a server that lacks one of them leaves it out.
SHOW GLOBAL VARIABLES WHERE Variable_name = 'wsrep_on' AND Value = 'ON'
  OR Variable_name = 'group_replication_single_primary_mode' AND Value = 'OFF'
