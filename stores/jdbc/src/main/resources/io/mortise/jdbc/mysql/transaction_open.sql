-- Goes with what begins a transaction: a process that stands still in the middle of it loses the connection, and with it the rows
-- that it has locked. MySQL has no other bound for that.
-- @mortise.open_s = as setup says
SET SESSION wait_timeout = @mortise.open_s
