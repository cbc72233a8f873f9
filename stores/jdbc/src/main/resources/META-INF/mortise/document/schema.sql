-- The table of Mortise for a database without a dialect of its own. Made on first use unless create=false.
-- Another prefix than mortise_: replace it below. A database that calls a long text otherwise than CLOB: replace that too.

-- One row per lock, session and fact. doc_key is made of digits only, so that no collation makes two keys one; doc_name is
-- the namespace and the key, other characters than letters, digits and -_. as =XX. doc_version rises with each write, and is
-- never used again for that key. doc_text begins with = and is of ASCII; other characters are written as \uXXXX.
CREATE TABLE mortise_document (
  doc_key     VARCHAR(80)   NOT NULL,
  doc_name    VARCHAR(2800) NOT NULL,
  doc_version NUMERIC(18)   NOT NULL,
  doc_text    CLOB          NOT NULL,
  PRIMARY KEY (doc_key)
);
