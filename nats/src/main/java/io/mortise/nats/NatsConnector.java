package io.mortise.nats;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.FailureText;
import io.mortise.internal.storekit.TrustedCertificates;
import io.mortise.spi.time.DurationText;
import io.nats.client.AuthenticationException;
import io.nats.client.Connection;
import io.nats.client.ConnectionListener;
import io.nats.client.ErrorListener;
import io.nats.client.Message;
import io.nats.client.Nats;
import io.nats.client.Options;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * The connection of a store, which reconnects by itself. The library closes a connection for good
 * when it was refused twice while it reconnected, as when a server is started with old users. Such
 * a connection is replaced once it is asked for, with one try a second at most. Thread-safe.
 */
final class NatsConnector implements AutoCloseable {
  private static final Duration RECONNECT_WAIT = Duration.ofMillis(200);
  private static final Duration RECONNECT_JITTER = Duration.ofMillis(100);

  private static final long TRY_EVERY_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Null if the connection is the application's, which replaces it itself. */
  private final @Nullable NatsTarget target;

  private final AtomicBoolean replacing = new AtomicBoolean();
  private final AtomicLong requests = new AtomicLong();
  private final Map<Long, CompletableFuture<Message>> unanswered = new ConcurrentHashMap<>();
  private final ConnectionListener breaks = (broken, event) -> failUnanswered(event);
  private volatile Connection connection;
  private volatile @Nullable RuntimeException lastFailure;
  private volatile boolean closed;

  private NatsConnector(Connection connection, @Nullable NatsTarget target) {
    this.connection = connection;
    this.target = target;
    connection.addConnectionListener(breaks);
  }

  /** Of a connection that the application has, and closes. */
  static NatsConnector of(Connection connection) {
    return new NatsConnector(connection, null);
  }

  /**
   * Connects. Blocks, for the timeout of each server where nobody answers.
   *
   * @throws StoreUnavailableException if no server can be reached
   * @throws StoreUnfitException if one can, and login or TLS fail
   */
  static NatsConnector to(NatsTarget target) {
    return new NatsConnector(connect(target), target);
  }

  /** The connection as it is. Does not block; one that is closed is being replaced then. */
  Connection connection() {
    Connection present = connection;
    NatsTarget again = target;
    if (again != null
        && !closed
        && present.getStatus() == Connection.Status.CLOSED
        && replacing.compareAndSet(false, true)) {
      Thread thread = new Thread(() -> replace(again), "mortise-nats-connect");
      thread.setDaemon(true);
      thread.start();
    }
    return present;
  }

  /** Why a connection is closed; null if it is not, or if that is not known. */
  @Nullable RuntimeException whyClosed(Connection present) {
    return present.getStatus() == Connection.Status.CLOSED ? lastFailure : null;
  }

  /**
   * The same answer, which fails with an {@link IOException} when a connection breaks meanwhile.
   * The library would leave it to its timeout.
   */
  CompletableFuture<Message> failingWithConnection(CompletableFuture<Message> answer) {
    long number = requests.incrementAndGet();
    unanswered.put(number, answer);
    return answer.whenComplete((message, failure) -> unanswered.remove(number));
  }

  private void failUnanswered(ConnectionListener.Events event) {
    if (event == ConnectionListener.Events.DISCONNECTED) {
      // Requests sent since fail too, and are retried: the event may come late.
      unanswered
          .values()
          .forEach(answer -> answer.completeExceptionally(new IOException("the connection broke")));
    }
  }

  private void replace(NatsTarget again) {
    try {
      Connection replacement = connect(again);
      replacement.addConnectionListener(breaks);
      connection = replacement;
      lastFailure = null;
    } catch (RuntimeException e) {
      lastFailure = e;
      LockSupport.parkNanos(TRY_EVERY_NANOS);
    } finally {
      replacing.set(false);
    }
    if (closed) {
      close();
    }
  }

  /** Closes a connection that is not the application's. Blocks for the timeout at most. */
  @Override
  public void close() {
    closed = true;
    connection.removeConnectionListener(breaks);
    if (target != null) {
      try {
        connection.close();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static Connection connect(NatsTarget target) {
    AtomicReference<@Nullable Exception> last = new AtomicReference<>();
    try {
      return Nats.connect(options(target, last));
    } catch (AuthenticationException e) {
      throw new StoreUnfitException(
          "NATS refuses the credentials (store=%s). Give nats://user:password@…, a token, 'credentials' or 'nkey'."
              .formatted(target),
          e);
    } catch (IOException e) {
      throw failure(target, Objects.requireNonNullElse(last.get(), e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreUnavailableException(
          "Interrupted while connecting to NATS (store=" + target + ").", e);
    }
  }

  private static Options options(NatsTarget target, AtomicReference<@Nullable Exception> last)
      throws IOException {
    Options.Builder options =
        Options.builder()
            .servers(
                target.servers().servers().stream().map("nats://"::concat).toArray(String[]::new))
            .connectionName("mortise")
            .connectionTimeout(target.timeout())
            .socketWriteTimeout(target.timeout().plusSeconds(1))
            // Of two that are not answered the second ends the connection.
            .pingInterval(target.timeout())
            .maxPingsOut(2)
            .maxReconnects(-1)
            .reconnectWait(RECONNECT_WAIT)
            .reconnectJitter(RECONNECT_JITTER)
            .reconnectJitterTls(RECONNECT_JITTER)
            .reportNoResponders()
            // In place of one that logs; what fails is told to callers.
            .errorListener(
                new ErrorListener() {
                  @Override
                  public void exceptionOccurred(Connection connection, Exception failure) {
                    last.set(failure);
                  }
                });
    if (target.tls()) {
      // The certificate is for the host's name.
      options.sslContext(TrustedCertificates.verifyingContext(target.ca())).noResolveHostnames();
    }
    String user = target.servers().user();
    String secret = target.servers().secret();
    if (user != null) {
      options.userInfo(user, secret);
    } else if (secret != null) {
      options.token(secret.toCharArray());
    }
    if (target.credentials() != null) {
      options.authHandler(Nats.credentials(target.credentials().toString()));
    }
    if (target.nkey() != null) {
      options.authHandler(
          Nats.staticCredentials(
              new char[0], Files.readString(target.nkey()).strip().toCharArray()));
    }
    return options.build();
  }

  private static RuntimeException failure(NatsTarget target, Exception failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      String message = Objects.requireNonNullElse(cause.getMessage(), "");
      if (message.startsWith("SSL required by server")) {
        return new StoreUnfitException(
            "NATS speaks TLS, and the URL does not (store=%s). Add tls=true.".formatted(target),
            failure);
      }
      if (message.startsWith("SSL connection wanted by client") || cause instanceof SSLException) {
        return new StoreUnfitException(
            "TLS to NATS fails (store=%s): %s. Look at 'tls', 'ca' and the host's name."
                .formatted(target, FailureText.withoutFullStop(FailureText.said(cause))),
            failure);
      }
      if (message.contains("signing nonce") || message.contains("getting public key")) {
        return new StoreUnfitException(
            "The file of 'credentials' or 'nkey' has no key that NATS takes (store=%s)."
                .formatted(target),
            failure);
      }
    }
    return new StoreUnavailableException(
        "Cannot reach NATS (store=%s): %s. Check host and port, and that the server runs."
            .formatted(target, unreachable(target, failure)),
        failure);
  }

  /** The client's exceptions of a server that is silent, or not to be found, have no sentence. */
  private static String unreachable(NatsTarget target, Exception failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof UnresolvedAddressException || cause instanceof UnknownHostException) {
        return "unknown host";
      } else if (cause instanceof TimeoutException || cause instanceof SocketTimeoutException) {
        return "it did not answer within " + DurationText.formatExact(target.timeout());
      }
    }
    return FailureText.withoutFullStop(FailureText.said(failure));
  }
}
