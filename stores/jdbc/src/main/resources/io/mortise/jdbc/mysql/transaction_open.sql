-- Travels with the begin of a transaction: a process that stands still within it loses the connection, and with it its row locks.
-- MySQL has no other bound for that.
-- @mortise.open_s = as setup says
SET SESSION wait_timeout = @mortise.open_s
