-- The tables of the shop, made by each instance at its start: one after the other, by a lock of the database.
SELECT pg_advisory_lock(5150);

CREATE TABLE IF NOT EXISTS product (
  id BIGINT PRIMARY KEY,
  in_stock INT NOT NULL,
  fence_token BIGINT NOT NULL DEFAULT 0,
  fence_holder VARCHAR(64) NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS purchase (
  id BIGSERIAL PRIMARY KEY,
  product BIGINT NOT NULL,
  quantity INT NOT NULL,
  instance VARCHAR(64) NOT NULL
);
CREATE TABLE IF NOT EXISTS delivery (
  purchase BIGINT PRIMARY KEY,
  began TIMESTAMPTZ NOT NULL,
  ended TIMESTAMPTZ
);
CREATE TABLE IF NOT EXISTS report (
  token BIGINT PRIMARY KEY,
  tick BIGINT NOT NULL,
  instance VARCHAR(64) NOT NULL,
  orders BIGINT
);
CREATE TABLE IF NOT EXISTS summary (
  id INT PRIMARY KEY,
  sold BIGINT NOT NULL DEFAULT 0,
  kept_by VARCHAR(64),
  fence_token BIGINT NOT NULL DEFAULT 0,
  fence_holder VARCHAR(64) NOT NULL DEFAULT ''
);
INSERT INTO product (id, in_stock) VALUES (1, 1000), (2, 1000) ON CONFLICT DO NOTHING;
INSERT INTO summary (id) VALUES (1) ON CONFLICT DO NOTHING;

SELECT pg_advisory_unlock(5150);
