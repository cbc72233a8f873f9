package io.mortise.nats;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.DaemonThreads;
import io.mortise.internal.runtime.FailureText;
import io.mortise.spi.time.DurationText;
import io.mortise.support.internal.server.TlsProbe;
import io.mortise.support.internal.server.TrustedCertificates;
import io.nats.client.AuthenticationException;
import io.nats.client.Connection;
import io.nats.client.ConnectionListener;
import io.nats.client.ErrorListener;
import io.nats.client.ForceReconnectOptions;
import io.nats.client.Message;
import io.nats.client.Nats;
import io.nats.client.Options;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
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

  /** Shorter than any firewall keeps a silent connection. */
  private static final Duration LONGEST_SILENCE = Duration.ofSeconds(1);

  private static final long TRY_EVERY_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** All processes that wait for one crowded lock may ask. */
  private static final long ASK_LIMIT_EVERY_SECONDS = 10;

  /** Null if the connection is the application's, which replaces it itself. */
  private final @Nullable NatsTarget target;

  private final AtomicBoolean replacing = new AtomicBoolean();

  /** Whether {@link #tooLong} has asked a moment ago. */
  private final AtomicBoolean limitAsked = new AtomicBoolean();

  private static final ThreadFactory THREADS = DaemonThreads.named("mortise-nats");

  private final AtomicLong requests = new AtomicLong();
  private final Map<Long, UnansweredRequest> unanswered = new ConcurrentHashMap<>();
  private final ConnectionListener breaks = this::failUnanswered;
  private volatile Connection connection;
  private volatile @Nullable RuntimeException lastFailure;
  private volatile boolean closed;

  private record UnansweredRequest(CompletableFuture<Message> answer, long connectionNumber) {}

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
      start(() -> replace(again));
    }
    return present;
  }

  /** Why a connection is closed; null if it is not, or if that is not known. */
  @Nullable RuntimeException whyClosed(Connection present) {
    return present.getStatus() == Connection.Status.CLOSED ? lastFailure : null;
  }

  /**
   * The same answer, which fails with an {@link IOException} when the connection breaks that was
   * there when the request was made. The library would leave it to its timeout.
   */
  CompletableFuture<Message> failingWithConnection(CompletableFuture<Message> answer) {
    long number = requests.incrementAndGet();
    unanswered.put(number, new UnansweredRequest(answer, connectionNumber(connection)));
    return answer.whenComplete((message, failure) -> unanswered.remove(number));
  }

  /** Counts connections to servers; that to come if there is none. */
  private static long connectionNumber(Connection connection) {
    long reconnects = connection.getStatistics().getReconnects();
    return connection.getStatus() == Connection.Status.CONNECTED ? reconnects : reconnects + 1;
  }

  /** The library tells of a break late, and of each failed try to reconnect. */
  private void failUnanswered(Connection broken, ConnectionListener.Events event) {
    if (event == ConnectionListener.Events.DISCONNECTED
        || event == ConnectionListener.Events.RECONNECTED) {
      long present = connectionNumber(broken);
      for (UnansweredRequest request : unanswered.values()) {
        if (request.connectionNumber() < present) {
          request.answer().completeExceptionally(new IOException("the connection broke"));
        }
      }
    }
  }

  /** The number of messages that have come by a connection. */
  static long heard(Connection connection) {
    return connection.getStatistics().getInMsgs();
  }

  /**
   * A request got no answer. If nothing at all has come since it was made, a firewall may have
   * forgotten the connection: another one takes its place, before the library's pings find out.
   *
   * @param heard {@link #heard} when it was made
   */
  void unanswered(Connection silent, long heard) {
    if (target != null
        && silent.getStatus() == Connection.Status.CONNECTED
        && heard(silent) == heard
        && replacing.compareAndSet(false, true)) {
      start(() -> reconnect(silent));
    }
  }

  private void reconnect(Connection silent) {
    try {
      silent.forceReconnect(ForceReconnectOptions.FORCE_CLOSE_INSTANCE);
    } catch (IOException e) {
      // It was closed meanwhile.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      replacing.set(false);
    }
  }

  /**
   * A request was longer than the server takes, as it told when the connection began. A server that
   * has read a higher {@code max_payload} since then tells new connections only: if one of those
   * hears of it, the present one is made again.
   */
  void tooLong(Connection present) {
    NatsTarget own = target;
    if (own != null
        && present.getStatus() == Connection.Status.CONNECTED
        && limitAsked.compareAndSet(false, true)) {
      CompletableFuture.delayedExecutor(ASK_LIMIT_EVERY_SECONDS, TimeUnit.SECONDS, Runnable::run)
          .execute(() -> limitAsked.set(false));
      start(() -> followLimit(own, present));
    }
  }

  private void followLimit(NatsTarget own, Connection present) {
    try {
      Connection asking = connect(own);
      boolean isHigher = asking.getMaxPayload() > present.getMaxPayload();
      asking.close();
      if (isHigher && replacing.compareAndSet(false, true)) {
        reconnect(present);
      }
    } catch (StoreUnavailableException | StoreUnfitException e) {
      // The next request that is too long asks again.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void start(Runnable task) {
    DaemonThreads.create("mortise-nats-connect", task).start();
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
            // Servers tell addresses that may lead nowhere from here, each for the whole timeout.
            .ignoreDiscoveredServers()
            .connectionName("mortise")
            .connectionTimeout(target.timeout())
            .socketWriteTimeout(target.timeout().plusSeconds(1))
            // Those of two timeouts that are not answered end the connection.
            .pingInterval(min(target.timeout(), LONGEST_SILENCE))
            .maxPingsOut(Math.max(2, (int) target.timeout().multipliedBy(2).toSeconds()))
            .maxReconnects(-1)
            .reconnectWait(RECONNECT_WAIT)
            .reconnectJitter(RECONNECT_JITTER)
            .reconnectJitterTls(RECONNECT_JITTER)
            .reportNoResponders()
            // The library's own threads would keep the JVM from ending.
            .executor(threads())
            .scheduledExecutor(timers())
            .connectThreadFactory(THREADS)
            .callbackThreadFactory(THREADS)
            // That of the JVM is meant for other servers.
            .proxy(Proxy.NO_PROXY)
            // In place of one that logs; callers are told of failures.
            .errorListener(
                new ErrorListener() {
                  @Override
                  public void exceptionOccurred(Connection connection, Exception failure) {
                    last.set(failure);
                  }
                });
    if (target.tls()) {
      // The certificate is for the host's name. Fast fallback tries all addresses of it.
      options
          .sslContext(TrustedCertificates.verifyingContext(target.ca()))
          .noResolveHostnames()
          .enableFastFallback();
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

  /** Nobody shuts it down: idle threads end by themselves. */
  private static ExecutorService threads() {
    return new ThreadPoolExecutor(
        0, Integer.MAX_VALUE, 500, TimeUnit.MILLISECONDS, new SynchronousQueue<>(), THREADS);
  }

  /** Nobody shuts it down, as above. */
  private static ScheduledExecutorService timers() {
    ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(3, THREADS);
    timers.setRemoveOnCancelPolicy(true);
    timers.setKeepAliveTime(500, TimeUnit.MILLISECONDS);
    timers.allowCoreThreadTimeOut(true);
    return timers;
  }

  private static Duration min(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  private static RuntimeException failure(NatsTarget target, Exception failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      String message = Objects.requireNonNullElse(cause.getMessage(), "");
      if (message.startsWith("SSL required by server")) {
        return new StoreUnfitException(
            "NATS speaks TLS, and the URL does not (store=%s). Add tls=true.".formatted(target),
            failure);
      }
      if (message.startsWith("SSL connection wanted by client")) {
        return new StoreUnfitException(
            "NATS does not speak TLS on this port, and the URL asks for it (store=%s). Leave tls=true out, or give the port for TLS."
                .formatted(target),
            failure);
      }
      if (cause instanceof SSLException) {
        return tlsFails(target, cause);
      }
      if (message.contains("signing nonce") || message.contains("getting public key")) {
        return new StoreUnfitException(
            "The file of 'credentials' or 'nkey' has no key that NATS takes (store=%s)."
                .formatted(target),
            failure);
      }
    }
    Optional<SSLException> refusal = target.tls() ? refusal(target) : Optional.empty();
    if (refusal.isPresent()) {
      return tlsFails(target, refusal.get());
    }
    return new StoreUnavailableException(
        "Cannot reach NATS (store=%s): %s. Check host and port, and that the server runs."
            .formatted(target, unreachable(target, failure)),
        failure);
  }

  private static StoreUnfitException tlsFails(NatsTarget target, Throwable failure) {
    return new StoreUnfitException(
        "TLS to NATS fails (store=%s): %s. %s"
            .formatted(
                target,
                FailureText.withoutFullStop(FailureText.said(failure)),
                TrustedCertificates.advice(failure, "Look at 'tls', 'ca' and the host's name.")),
        failure);
  }

  /** A server that wants another certificate tells it after the handshake; the library does not. */
  private static Optional<SSLException> refusal(NatsTarget target) {
    return target.servers().servers().stream()
        .map(server -> URI.create("nats://" + server))
        .map(server -> new InetSocketAddress(server.getHost(), server.getPort()))
        .map(server -> TlsProbe.refusal(server, target.ca(), target.timeout(), true))
        .flatMap(Optional::stream)
        .filter(TrustedCertificates::isOfClient)
        .findFirst();
  }

  /** The client's exceptions of a server that is silent, or not to be found, have no sentence. */
  private static String unreachable(NatsTarget target, Exception failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof UnresolvedAddressException || cause instanceof UnknownHostException) {
        return "unknown host";
      } else if (cause instanceof TimeoutException || cause instanceof SocketTimeoutException) {
        return "it did not answer within " + DurationText.formatExact(target.timeout());
      } else if (String.valueOf(cause.getMessage()).startsWith("Read past initial info")) {
        return "it refused the connection after its greeting, as at its max_connections";
      }
    }
    return FailureText.withoutFullStop(FailureText.said(failure));
  }
}
