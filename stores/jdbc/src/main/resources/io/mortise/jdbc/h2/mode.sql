-- A mode in which our statements are none, or mean something else: Oracle's takes an empty text for NULL, the others have no LIMIT.
-- Returns its name; no row: none of them.
SELECT SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS
WHERE SETTING_NAME = 'MODE' AND SETTING_VALUE IN ('Oracle', 'MSSQLServer', 'Derby', 'STRICT')
