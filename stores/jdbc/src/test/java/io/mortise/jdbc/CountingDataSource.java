package io.mortise.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;

/**
 * Counts the statements that are run over the connections of a data source, except the reading of
 * news, which happens again and again by itself.
 */
public final class CountingDataSource {
  private final AtomicLong count = new AtomicLong();
  private final DataSource source;

  public CountingDataSource(DataSource source) {
    this.source = counted(DataSource.class, source);
  }

  public DataSource source() {
    return source;
  }

  public long count() {
    return count.get();
  }

  private <T> T counted(Class<T> type, T target) {
    return type.cast(
        Proxy.newProxyInstance(
            CountingDataSource.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              if (target instanceof Statement && method.getName().startsWith("execute")) {
                count.incrementAndGet();
              }
              try {
                Object result = method.invoke(target, arguments);
                if (result instanceof Connection connection && target instanceof DataSource) {
                  return counted(Connection.class, connection);
                } else if (result instanceof PreparedStatement prepared
                    && !arguments[0].toString().startsWith("SELECT * FROM mortise_news")) {
                  return counted(PreparedStatement.class, prepared);
                } else if (result instanceof Statement statement
                    && !(result instanceof PreparedStatement)) {
                  return counted(Statement.class, statement);
                }
                return result;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }
}
