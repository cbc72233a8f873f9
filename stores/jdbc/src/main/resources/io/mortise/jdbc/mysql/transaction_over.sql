-- Travels with the end of a transaction: between transactions a connection may be silent for longer.
-- @mortise.idle_s = as setup says
SET SESSION wait_timeout = @mortise.idle_s
