-- How long this session waits for row locks. {seconds} = from 1 on
SET SESSION innodb_lock_wait_timeout = {seconds}
