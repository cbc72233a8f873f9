package io.mortise.redis.transport;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Where a server is and how to get in. Never shows the password.
 *
 * @param host name or address; what a certificate must be for
 * @param database number of the database to select
 * @param user name of an ACL user; null for the default one
 * @param password null for none
 * @param tls whether to speak TLS, with a verified certificate
 * @param trusted file of trusted certificates in PEM form; null for those that the JVM trusts
 * @param timeout how long connecting may take, and the first commands after it
 */
public record Endpoint(
    String host,
    int port,
    int database,
    @Nullable String user,
    @Nullable String password,
    boolean tls,
    @Nullable Path trusted,
    Duration timeout) {
  /** What the server shows of us in CLIENT LIST. */
  public static final String CLIENT_NAME = "mortise";

  /** The same way in, elsewhere. */
  public Endpoint at(String otherHost, int otherPort) {
    return new Endpoint(otherHost, otherPort, database, user, password, tls, trusted, timeout);
  }

  /** The same, with another patience. */
  public Endpoint within(Duration otherTimeout) {
    return new Endpoint(host, port, database, user, password, tls, trusted, otherTimeout);
  }

  @Override
  public String toString() {
    return host + ":" + port;
  }
}
