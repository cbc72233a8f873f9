/** Locks kept in a relational database, by plain JDBC. Start reading at {@code io.mortise.jdbc}. */
module io.mortise.jdbc {
  requires io.mortise.core;
  requires java.sql;
  requires static transitive org.jspecify;
}
