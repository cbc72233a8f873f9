package io.mortise.jdbc.dialect;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Abilities of the PostgreSQL driver beyond JDBC: it hears notifications, and knows the server's
 * process id. By reflection, because the driver is the user's choice and this module works without
 * it.
 */
final class PostgresDriver {
  private final Class<?> connection;
  private final Method getNotifications;
  private final Method getBackend;
  private final Method getName;
  private final Method getParameter;

  private PostgresDriver() throws ReflectiveOperationException {
    connection = Class.forName("org.postgresql.PGConnection");
    getNotifications = connection.getMethod("getNotifications", int.class);
    getBackend = connection.getMethod("getBackendPID");
    Class<?> notification = Class.forName("org.postgresql.PGNotification");
    getName = notification.getMethod("getName");
    getParameter = notification.getMethod("getParameter");
  }

  /** The driver, or null if it is not there. */
  static @Nullable PostgresDriver find() {
    try {
      return new PostgresDriver();
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }

  /** The process of the server that a connection leads to, as it was told; 0 if it is no such. */
  int backend(Connection on) throws SQLException {
    if (!on.isWrapperFor(connection)) {
      return 0;
    }
    try {
      return (int) getBackend.invoke(on.unwrap(connection));
    } catch (ReflectiveOperationException e) {
      throw new SQLException("The driver does not tell the server's process", e);
    }
  }

  /** Takes what was heard. */
  @FunctionalInterface
  interface NotificationHandler {
    void hear(String channel, String payload);
  }

  /**
   * Waits for notifications, at most so long; blocks, and keeps the connection to itself.
   *
   * @return whether there were any
   */
  boolean await(Connection on, Duration longest, NotificationHandler notificationHandler)
      throws SQLException {
    try {
      Object[] heard =
          (Object[]) getNotifications.invoke(on.unwrap(connection), (int) longest.toMillis());
      if (heard == null) {
        return false;
      }
      for (Object each : heard) {
        notificationHandler.hear(
            String.valueOf(getName.invoke(each)), String.valueOf(getParameter.invoke(each)));
      }
      return heard.length > 0;
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof SQLException sql) {
        throw sql;
      }
      throw new SQLException("The driver failed while waiting for notifications", e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new SQLException("The driver's notifications cannot be used", e);
    }
  }
}
