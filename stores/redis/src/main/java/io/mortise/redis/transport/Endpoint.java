package io.mortise.redis.transport;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Address and credentials of a server. Never shows the password.
 *
 * @param host name or address; the certificate must be for it
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
  /** Our name in the server's CLIENT LIST. */
  public static final String CLIENT_NAME = "mortise";

  /** The same credentials at another address. */
  public Endpoint at(String otherHost, int otherPort) {
    return new Endpoint(otherHost, otherPort, database, user, password, tls, trusted, timeout);
  }

  /** The same endpoint with another timeout. */
  public Endpoint within(Duration otherTimeout) {
    return new Endpoint(host, port, database, user, password, tls, trusted, otherTimeout);
  }

  @Override
  public String toString() {
    return host + ":" + port;
  }
}
