-- The settings of setup.sql, for one transaction: its time limits, and a commit that is awaited.
-- :lock_timeout :statement_timeout :idle_timeout :transaction_timeout = in ms
SELECT set_config('lock_timeout', :lock_timeout, true),
  set_config('statement_timeout', :statement_timeout, true),
  set_config('idle_in_transaction_session_timeout', :idle_timeout, true),
  CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL
    THEN set_config('transaction_timeout', :transaction_timeout, true) END,
  set_config('synchronous_commit',
    CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)
