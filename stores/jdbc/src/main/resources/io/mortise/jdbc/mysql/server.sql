-- The identity and the settings of a server.
-- Returns names and values; a server that lacks one of them leaves it out.
SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'read_only', 'super_read_only', 'innodb_read_only', 'log_bin', 'binlog_format',
  'innodb_flush_log_at_trx_commit')
