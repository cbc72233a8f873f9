package io.mortise.console;

import io.mortise.LockClient;
import io.mortise.admin.LockAdmin;
import io.mortise.annotation.Beta;
import io.mortise.console.internal.api.ConsoleApi;
import io.mortise.console.internal.http.AccessToken;
import io.mortise.console.internal.http.ConsoleServer;
import io.mortise.console.internal.http.ConsoleSite;
import io.mortise.console.observer.Observer;
import io.mortise.spi.time.Ticker;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.security.SecureRandom;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/**
 * A web console of locks, their holders and waiters, and the store's guarantees.
 *
 * <p>It listens on this host only, and answers no request without the token of its link. It only
 * observes unless actions are {@linkplain ConsoleBuilder#allow allowed}. Surveys cost the store no
 * more than a {@linkplain ConsoleBuilder#budget share} of its time, whatever the number of locks
 * and of open pages. Opening a lock on a page costs additional requests. Thread-safe.
 */
@Beta
public final class Console implements AutoCloseable {
  /** The number of ports tried, from the default on, if no address is set. */
  private static final int PORTS = 20;

  private final ConsoleServer server;
  private final Observer observer;
  private final URI url;

  private Console(ConsoleServer server, Observer observer, URI url) {
    this.server = server;
    this.observer = observer;
    this.url = url;
  }

  /**
   * Builds a console for the locks that a client sees. The caller keeps the client, which has to
   * stay open as long as the console.
   */
  public static ConsoleBuilder builder(LockClient client) {
    return new ConsoleBuilder(client);
  }

  static Console start(ConsoleBuilder settings) {
    InetSocketAddress asked = settings.address;
    InetSocketAddress wanted =
        asked == null
            ? new InetSocketAddress(InetAddress.getLoopbackAddress(), ConsoleBuilder.DEFAULT_PORT)
            : asked;
    URI behind = settings.behind;
    int ports = asked == null && behind == null && settings.token == null ? PORTS : 1;
    if (!wanted.getAddress().isLoopbackAddress() && behind == null) {
      throw new IllegalArgumentException(
          "The console listens on this host only, and '"
              + wanted.getHostString()
              + "' is reached from others. For people elsewhere put a proxy with TLS before it, and name its"
              + " address by ConsoleBuilder.behind.");
    }
    Ticker ticker = Ticker.SYSTEM;
    AccessToken token =
        settings.token == null
            ? AccessToken.random(new SecureRandom(), ticker)
            : new AccessToken(settings.token, ticker);
    InstantSource clock = InstantSource.system();
    LockAdmin admin = settings.client.admin();
    Observer observer = settings.observer(admin, ticker, clock);
    ConsoleApi api = settings.api(admin, observer, ticker, clock);
    try {
      ConsoleServer server =
          ConsoleServer.start(
              wanted, ports, address -> ConsoleSite.alone(address, behind, token, api));
      observer.start();
      return new Console(server, observer, link(server.address(), behind, token));
    } catch (IOException e) {
      observer.close();
      throw new UncheckedIOException(
          "Cannot listen at "
              + wanted.getHostString()
              + ":"
              + wanted.getPort()
              + ": "
              + e.getMessage()
              + ". Choose another address, or end the program that listens there.",
          e);
    }
  }

  private static URI link(InetSocketAddress address, @Nullable URI behind, AccessToken token) {
    String host = address.getAddress().getHostAddress();
    String base =
        behind != null
            ? behind.toString().replaceAll("/+$", "")
            : "http://"
                + (host.indexOf(':') < 0 ? host : "[" + host + "]")
                + ":"
                + address.getPort();
    return URI.create(base + "/#token=" + token.value());
  }

  /**
   * The link to open, with the token behind the {@code #}. Anybody who has it may use the console.
   */
  public URI url() {
    return url;
  }

  /** The address it listens on. */
  public InetSocketAddress address() {
    return server.address();
  }

  /** Returns the cost of observation so far, and the number of open pages. Sends no request. */
  public ConsoleCost cost() {
    return ConsoleCost.of(observer, server.openStreams());
  }

  /** Closes its connections and stops observing. The client stays open. */
  @Override
  public void close() {
    server.close();
    observer.close();
  }
}
