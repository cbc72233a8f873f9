package io.mortise.redis.transport;

import io.mortise.internal.runtime.CompletionStages;
import io.mortise.spi.time.DurationText;
import io.mortise.spi.time.Ticker;
import io.mortise.support.internal.server.SocketKeepAlive;
import io.mortise.support.internal.server.TlsProbe;
import io.mortise.support.internal.server.TrustedCertificates;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * One connection, from its opening to its end; never reused after a break. One thread reads, one at
 * a time writes, any thread may {@link #kill()}.
 */
final class RespConnection {
  private static final Duration PROBE = Duration.ofSeconds(1);

  /** How long a TLS server may be silent before we probe whether it speaks TLS at all. */
  private static final Duration SILENCE = Duration.ofMillis(500);

  private final Endpoint endpoint;
  private final Ticker ticker;
  private final RespWriter writer = new RespWriter();

  /** Commands that were written and not yet answered, in order. */
  final Queue<PendingCommand> waiting = new ConcurrentLinkedQueue<>();

  /**
   * The socket below TLS, if any. Closing it ends a read and a write at once; closing a TLS socket
   * does not while a write is stuck.
   */
  private volatile @Nullable Socket socket;

  private volatile boolean killed;
  private @Nullable RespReader in;
  private @Nullable OutputStream out;

  private String role = "";

  /**
   * The WAIT in flight, and the one to send when that is answered. Guarded by the lock under which
   * commands are written.
   */
  @Nullable ReplicaWait waitInFlight;

  @Nullable ReplicaWait waitNext;

  /** When the current write began; 0 while there is none. */
  private volatile long writingSince;

  /** Time of the last write. */
  private volatile long usedAt;

  /** A command that waits for its answer. */
  static final class PendingCommand extends CompletableFuture<@Nullable Object> {
    /** First item of the push that answers it; null for a command with a reply of its own. */
    final @Nullable String kind;

    /** The channel of a subscription. */
    final @Nullable String channel;

    PendingCommand() {
      this(null, null);
    }

    PendingCommand(@Nullable String kind, @Nullable String channel) {
      this.kind = kind;
      this.channel = channel;
    }
  }

  /** A WAIT: asks how many replicas have everything written before it. */
  static final class ReplicaWait {
    final PendingCommand command = new PendingCommand();
    final CompletableFuture<Long> acknowledged = new CompletableFuture<>();
    private final long timeoutMillis;
    private int replicas;

    ReplicaWait(int replicas, Duration timeout) {
      this.replicas = replicas;
      this.timeoutMillis = timeout.toMillis();
    }

    /** Adds callers that share it, before it is sent. */
    void alsoFor(int more) {
      replicas = Math.max(replicas, more);
    }

    String[] words() {
      return new String[] {"WAIT", Integer.toString(replicas), Long.toString(timeoutMillis)};
    }
  }

  RespConnection(Endpoint endpoint, Ticker ticker) {
    this.endpoint = endpoint;
    this.ticker = ticker;
  }

  /**
   * Connects, authenticates and selects the database. Blocks.
   *
   * @throws ErrorReplyException if the server refuses
   * @throws IOException if it cannot be reached, does not answer in time or presents a wrong
   *     certificate
   */
  void open() throws IOException {
    Socket connected = connect();
    // A handshake and two requests, each of which may take the whole timeout.
    within(
        endpoint.timeout().multipliedBy(2),
        () -> {
          connected.setSoTimeout((int) endpoint.timeout().toMillis());
          Socket speaking = endpoint.tls() ? secured(connected) : connected;
          RespReader reader = new RespReader(speaking.getInputStream());
          in = reader;
          out = speaking.getOutputStream();
          greet(reader);
          connected.setSoTimeout(0);
          return null;
        });
  }

  private interface SocketAction {
    @Nullable Object run() throws IOException;
  }

  /** A socket timeout bounds each read only; a server may send a byte now and then for ever. */
  private @Nullable Object within(Duration limit, SocketAction socketAction) throws IOException {
    AtomicBoolean over = new AtomicBoolean();
    CompletableFuture<Void> alarm =
        CompletableFuture.runAsync(
            () -> {
              over.set(true);
              kill();
            },
            CompletableFuture.delayedExecutor(
                limit.toNanos(), TimeUnit.NANOSECONDS, Runnable::run));
    try {
      return socketAction.run();
    } catch (TlsMismatchException e) {
      throw e;
    } catch (IOException e) {
      if (over.get()) {
        SocketTimeoutException late =
            new SocketTimeoutException("No whole answer within " + DurationText.format(limit));
        late.addSuppressed(e);
        throw late;
      }
      throw e;
    } finally {
      alarm.cancel(false);
    }
  }

  /** Tries one address after the other, with an equal share of the time each. */
  private Socket connect() throws IOException {
    InetAddress[] addresses = InetAddress.getAllByName(endpoint.host());
    int share = (int) Math.max(1, endpoint.timeout().toMillis() / addresses.length);
    IOException failure = null;
    for (InetAddress address : addresses) {
      // Not through the JVM's proxy, which is meant for other servers.
      Socket made = new Socket(Proxy.NO_PROXY);
      socket = made;
      try {
        if (killed) {
          throw new IOException("The connection was closed.");
        }
        SocketKeepAlive.connect(made, new InetSocketAddress(address, endpoint.port()), share);
        return made;
      } catch (IOException e) {
        made.close();
        failure = e;
      }
    }
    throw failure == null ? new IOException("The host has no address.") : failure;
  }

  private SSLSocket secured(Socket connected) throws IOException {
    SSLSocket tls =
        (SSLSocket)
            TrustedCertificates.context(endpoint.trusted())
                .getSocketFactory()
                .createSocket(connected, endpoint.host(), endpoint.port(), true);
    SSLParameters parameters = tls.getSSLParameters();
    // Without this, any certificate of a trusted authority would pass, for any host.
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    tls.setSSLParameters(parameters);
    // A server without TLS takes the handshake for part of a command and waits for the rest, as
    // long as we do.
    AtomicBoolean plain = new AtomicBoolean();
    CompletableFuture<Void> doubt =
        CompletableFuture.runAsync(
            () -> {
              if (speaksPlainly()) {
                plain.set(true);
                kill();
              }
            },
            CompletableFuture.delayedExecutor(
                SILENCE.toMillis(),
                TimeUnit.MILLISECONDS,
                CompletionStages.detaching("mortise-redis-tls")));
    try {
      tls.startHandshake();
    } catch (IOException e) {
      if (plain.get() || speaksPlainly()) {
        throw new TlsMismatchException(
            "The server does not speak TLS there. Leave out the second s of rediss in the store URL,"
                + " or give its TLS port",
            e);
      }
      throw e;
    } finally {
      doubt.cancel(false);
    }
    return tls;
  }

  /** Whether the server answers without TLS: then it took the handshake for a command. */
  private boolean speaksPlainly() {
    // PONG, or an error: a password is missing.
    return TlsProbe.ask(
            address(),
            "PING\r\n".getBytes(StandardCharsets.US_ASCII),
            first -> first == '+' || first == '-',
            PROBE)
        == TlsProbe.ProbeAnswer.YES;
  }

  private void greet(RespReader reader) throws IOException {
    List<String> hello = new ArrayList<>(List.of("HELLO", "3"));
    String password = endpoint.password();
    if (password != null) {
      String user = endpoint.user();
      hello.addAll(List.of("AUTH", user == null ? "default" : user, password));
    }
    hello.addAll(List.of("SETNAME", Endpoint.CLIENT_NAME));
    Object greeting = greeting(reader, hello.toArray(String[]::new));
    if (greeting instanceof List<?> fields) {
      int at = fields.indexOf("role");
      role = at < 0 ? "" : String.valueOf(fields.get(at + 1));
    }
    if (endpoint.database() != 0) {
      answer(reader, "SELECT", Integer.toString(endpoint.database()));
    }
  }

  private @Nullable Object greeting(RespReader reader, String... hello) throws IOException {
    try {
      return answer(reader, hello);
    } catch (SocketTimeoutException e) {
      throw e;
    } catch (IOException e) {
      if (endpoint.tls()) {
        // With TLS 1.3 the refusal follows the handshake, and is lost if the greeting was not read.
        throw TlsProbe.refusal(address(), endpoint.trusted(), PROBE, false)
            .filter(TrustedCertificates::isOfClient)
            .map(IOException.class::cast)
            .orElse(e);
      } else if (speaksTls()) {
        throw new TlsMismatchException(
            "The server speaks TLS there. Write rediss instead of redis in the store URL, or give its"
                + " port without TLS",
            e);
      }
      throw new IOException(
          ConnectionOutage.reason(e).replaceFirst("\\.+$", "")
              + " at the command HELLO. A proxy in front of it may not know the command");
    }
  }

  /** Whether the server answers a TLS handshake: then it took the greeting for a broken one. */
  private boolean speaksTls() {
    return TlsProbe.askInTls(address(), PROBE) == TlsProbe.ProbeAnswer.YES;
  }

  private InetSocketAddress address() {
    return new InetSocketAddress(endpoint.host(), endpoint.port());
  }

  /** The server's role as told in the greeting: master, replica, or empty. */
  String role() {
    return role;
  }

  Endpoint endpoint() {
    return endpoint;
  }

  /**
   * Sends a command on a connection that is not in use yet. Blocks, for the endpoint's timeout at
   * most.
   *
   * @throws ErrorReplyException if the server refuses
   */
  @Nullable Object ask(String... words) throws IOException {
    Socket below = socket;
    RespReader from = in;
    if (below == null || from == null) {
      throw new IOException("There is no connection yet.");
    }
    return within(
        endpoint.timeout(),
        () -> {
          below.setSoTimeout((int) endpoint.timeout().toMillis());
          Object answer = answer(from, words);
          below.setSoTimeout(0);
          return answer;
        });
  }

  private @Nullable Object answer(RespReader reader, String... words) throws IOException {
    write(words);
    Object reply = reader.read();
    if (reply instanceof ErrorReplyException error) {
      throw error;
    }
    return reply;
  }

  /** Sends a command, in one write. Blocks while the server reads nothing. */
  void write(String... words) throws IOException {
    OutputStream to = out;
    if (to == null) {
      throw new IOException("There is no connection yet.");
    }
    writer.command(words);
    usedAt = ticker.nanos();
    writingSince = usedAt | 1;
    writer.sendTo(to);
    writingSince = 0;
  }

  /** The next answer or push. Blocks. */
  @Nullable Object read() throws IOException {
    RespReader from = in;
    if (from == null) {
      throw new IOException("There is no connection yet.");
    }
    return from.read();
  }

  /** Whether no reply is expected and no input has arrived. */
  boolean isQuiet() {
    return waiting.isEmpty() && (in == null || !in.hasMore());
  }

  /** Waits a moment for input; returns whether there is some. */
  boolean hasMore() throws IOException {
    RespReader from = in;
    Socket below = socket;
    if (from == null || below == null) {
      throw new IOException("There is no connection yet.");
    }
    if (from.hasMore()) {
      return true;
    }
    below.setSoTimeout(1);
    try {
      from.await();
      return true;
    } catch (SocketTimeoutException e) {
      return false;
    } finally {
      below.setSoTimeout(0);
    }
  }

  /** Whether nothing was written for that long, and no reply is pending. */
  boolean isIdle(long nanos) {
    return waiting.isEmpty() && ticker.nanos() - usedAt > nanos;
  }

  /** Whether a write has been blocked for longer than that. */
  boolean isStuck(long nanos) {
    long since = writingSince;
    return since != 0 && ticker.nanos() - since > nanos;
  }

  /** Ends reads and writes at once, with an exception for their callers. */
  void kill() {
    killed = true;
    Socket open = socket;
    if (open != null) {
      try {
        open.close();
      } catch (IOException e) {
        // The socket is gone either way.
      }
    }
  }
}
