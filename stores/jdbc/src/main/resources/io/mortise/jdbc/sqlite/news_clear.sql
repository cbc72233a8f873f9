-- Forgets the news of all sessions, which have ended.
DELETE FROM mortise_news
