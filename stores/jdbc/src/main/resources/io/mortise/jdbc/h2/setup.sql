-- Sets the time limits of requests; leave restores the previous ones.
-- :lock_ms = the longest wait for a row, :statement_ms = the longest statement
SET @lock_timeout_before_mortise = LOCK_TIMEOUT();
SET @query_timeout_before_mortise =
  (SELECT SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = 'QUERY_TIMEOUT');
SET LOCK_TIMEOUT :lock_ms;
SET QUERY_TIMEOUT :statement_ms
