-- Ends all sessions, after the machine was started anew: none of their processes can live.
DELETE FROM mortise_session
