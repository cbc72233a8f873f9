-- Settings of a server and figures of its state that change what locks guarantee. Readable by every user.
-- Returns names and values; a server that lacks one of them leaves it out.
SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'innodb_flush_log_at_trx_commit', 'innodb_doublewrite', 'log_bin', 'sync_binlog',
  'max_connections', 'wsrep_on', 'group_replication_group_name', 'rpl_semi_sync_master_enabled', 'rpl_semi_sync_source_enabled')
