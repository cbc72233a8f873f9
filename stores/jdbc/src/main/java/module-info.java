/**
 * Locks kept in a relational database, by plain JDBC; the driver is the user's choice. Start
 * reading at {@code io.mortise.jdbc}.
 */
@SuppressWarnings("module") // The driver need not be there.
module io.mortise.jdbc {
  requires transitive io.mortise.core;
  requires io.mortise.support;
  requires transitive java.sql;
  requires org.slf4j;
  requires static transitive org.jspecify;

  exports io.mortise.jdbc;
  exports io.mortise.jdbc.driver to
      org.mariadb.jdbc,
      org.postgresql.jdbc;

  provides io.mortise.spi.LockStoreProvider with
      io.mortise.jdbc.JdbcStoreProvider;
}
