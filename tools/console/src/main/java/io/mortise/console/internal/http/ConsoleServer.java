package io.mortise.console.internal.http;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.mortise.spi.time.Ticker;
import java.io.IOException;
import java.io.OutputStream;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The console on the HTTP server of the JDK. Requests share a few threads; each stream has its own.
 * The body of a request is read after its token has been verified.
 *
 * <p>Two properties of that server are read once in a process, when its classes are loaded: without
 * {@code nodelay} each answer on a kept connection takes 44 ms, and without {@code maxReqTime} a
 * few half-sent requests hold all threads for ever. They are set here unless set already, and have
 * no effect in a process that has created such a server before.
 */
public final class ConsoleServer implements AutoCloseable {
  static {
    setIfAbsent("sun.net.httpserver.nodelay", "true");
    setIfAbsent("sun.net.httpserver.maxReqTime", "5");
  }

  private static final Logger log = LoggerFactory.getLogger(ConsoleServer.class);

  private static final int MAX_DELAYED = 64;

  private final HttpServer server;
  private final StreamThreads streams = new StreamThreads();
  private final RequestThreads requests = new RequestThreads(streams.timer(), Ticker.SYSTEM);
  private final Semaphore delayed = new Semaphore(MAX_DELAYED);
  private final ConsoleSite site;
  private final Map<String, String> everywhere;

  /** Whether the body of a request was read before its answer is written. */
  private enum RequestBody {
    /** It was read completely, or there is none. */
    READ,
    UNREAD
  }

  private ConsoleServer(HttpServer server, ConsoleSite site) {
    this.server = server;
    this.site = site;
    this.everywhere = site.headers();
  }

  /**
   * Listens.
   *
   * @param ports the number of ports to try, from the wanted one on
   * @param site creates the site, once the address is known
   * @throws IOException if it cannot listen on any of them
   */
  public static ConsoleServer start(
      InetSocketAddress wanted, int ports, Function<InetSocketAddress, ConsoleSite> site)
      throws IOException {
    HttpServer server = bind(wanted, ports);
    ConsoleServer started = new ConsoleServer(server, site.apply(server.getAddress()));
    server.createContext("/", started::handle);
    server.setExecutor(started.requests);
    server.start();
    return started;
  }

  private static HttpServer bind(InetSocketAddress wanted, int ports) throws IOException {
    int last = wanted.getPort() == 0 ? 0 : Math.min(wanted.getPort() + ports - 1, 65_535);
    for (int port = wanted.getPort(); ; port++) {
      try {
        return HttpServer.create(new InetSocketAddress(wanted.getAddress(), port), 0);
      } catch (BindException e) {
        if (port >= last) {
          throw e;
        }
      }
    }
  }

  /** The address it listens on. */
  public InetSocketAddress address() {
    return server.getAddress();
  }

  /** The number of open streams. */
  public int openStreams() {
    return streams.open();
  }

  private void handle(HttpExchange exchange) {
    try {
      ConsoleRequest head = head(exchange);
      boolean admitted = site.admits(head);
      requests.hasRead();
      boolean acts = admitted && head.method().equals("POST");
      ConsoleRequest request =
          acts
              ? head.withBody(exchange.getRequestBody().readNBytes(RequestGuard.MAX_BODY + 1))
              : head;
      boolean isWhole = acts && request.body().length <= RequestGuard.MAX_BODY;
      RequestBody body = isWhole || !hasBody(exchange) ? RequestBody.READ : RequestBody.UNREAD;
      ConsoleResponse response = site.answer(request);
      if (response.delay().isZero()) {
        respond(exchange, body, response);
      } else if (delayed.tryAcquire()) {
        ScheduledFuture<?> unused =
            streams
                .timer()
                .schedule(
                    () -> {
                      delayed.release();
                      requests.execute(() -> respond(exchange, body, response));
                    },
                    response.delay().toMillis(),
                    TimeUnit.MILLISECONDS);
      } else {
        exchange.close();
      }
    } catch (IOException | RuntimeException e) {
      log.debug("A request to the console could not be answered.", e);
      exchange.close();
    }
  }

  private static ConsoleRequest head(HttpExchange exchange) {
    Headers headers = exchange.getRequestHeaders();
    String query = exchange.getRequestURI().getRawQuery();
    return new ConsoleRequest(
        exchange.getRequestMethod(),
        exchange.getRequestURI().getRawPath(),
        query == null ? "" : query,
        name -> headers.getOrDefault(name, List.of()),
        new byte[0],
        null);
  }

  private static boolean hasBody(HttpExchange exchange) {
    Headers headers = exchange.getRequestHeaders();
    return headers.containsKey("Content-Length") || headers.containsKey("Transfer-Encoding");
  }

  private void respond(HttpExchange exchange, RequestBody body, ConsoleResponse response) {
    ConsoleResponse.StreamBody stream = response.stream();
    if (stream == null) {
      if (body == RequestBody.UNREAD) {
        // The JDK's server reads the rest of the body, however long that takes.
        requests.reads();
      } else {
        requests.hasRead();
      }
      try (exchange) {
        send(exchange, response);
      } catch (IOException | RuntimeException e) {
        log.debug("A client of the console has gone away.", e);
      }
    } else if (!streams.start(() -> write(exchange, response, stream))) {
      respond(exchange, body, streams.refusal());
    }
  }

  private void write(
      HttpExchange exchange, ConsoleResponse response, ConsoleResponse.StreamBody stream)
      throws IOException, InterruptedException {
    try (exchange) {
      streams.writeLimit().run(() -> sendHeaders(exchange, response, 0));
      stream.writeTo(new EventSink(exchange.getResponseBody(), streams.writeLimit()));
    }
  }

  private void send(HttpExchange exchange, ConsoleResponse response) throws IOException {
    boolean none = exchange.getRequestMethod().equals("HEAD");
    byte[] body = none ? new byte[0] : response.body();
    streams
        .writeLimit()
        .run(
            () -> {
              sendHeaders(exchange, response, body.length == 0 ? -1 : body.length);
              if (body.length > 0) {
                OutputStream out = exchange.getResponseBody();
                out.write(body);
                out.close();
              }
            });
  }

  private void sendHeaders(HttpExchange exchange, ConsoleResponse response, long length)
      throws IOException {
    Headers headers = exchange.getResponseHeaders();
    everywhere.forEach(headers::set);
    response.headers().forEach(headers::set);
    exchange.sendResponseHeaders(response.status(), length);
  }

  /** Ends streams and stops answering. */
  @Override
  public void close() {
    streams.close();
    server.stop(0);
    requests.shutdownNow();
  }

  private static void setIfAbsent(String property, String value) {
    if (System.getProperty(property) == null) {
      System.setProperty(property, value);
    }
  }
}
