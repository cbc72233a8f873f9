-- How long after its answer a commit is written.
-- Returns one row, in milliseconds, or none.
SELECT SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = 'WRITE_DELAY'
