/**
 * Helpers for SQL of your own: they guard, lock or record inside the transaction or connection that
 * you hand in. Start reading at {@code io.mortise.sql}.
 */
module io.mortise.sql {
  requires transitive io.mortise.core;
  requires io.mortise.support;
  requires transitive java.sql;
  requires org.slf4j;
  requires static transitive org.jspecify;

  exports io.mortise.sql;
}
