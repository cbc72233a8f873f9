-- Goes with what ends a transaction: between two of them a connection may be silent for longer.
-- @mortise.idle_s = as setup says
SET SESSION wait_timeout = @mortise.idle_s
