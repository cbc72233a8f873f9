package io.mortise.console.internal.http;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The console on the HTTP server of the JDK. Requests have a few threads, each stream one of its
 * own.
 *
 * <p>Two properties of that server are read once in a process, when its classes are loaded: without
 * {@code nodelay} each answer on a kept connection takes 44 ms, and without {@code maxReqTime} a
 * few half-sent requests hold all threads for ever. They are set here unless somebody has set them,
 * and have no effect in a process that has made such a server before.
 */
public final class ConsoleServer implements AutoCloseable {
  static {
    setIfAbsent("sun.net.httpserver.nodelay", "true");
    setIfAbsent("sun.net.httpserver.maxReqTime", "5");
  }

  private static final Logger log = LoggerFactory.getLogger(ConsoleServer.class);

  private static final int THREADS = 16;
  private static final int MAX_QUEUED = 64;
  private static final int MAX_DELAYED = 64;
  private static final int PORTS = 20;

  private final HttpServer server;
  private final ThreadPoolExecutor requests;
  private final StreamThreads streams = new StreamThreads();
  private final Semaphore delayed = new Semaphore(MAX_DELAYED);
  private final ConsoleSite site;
  private final Map<String, String> everywhere;

  private ConsoleServer(HttpServer server, ConsoleSite site) {
    this.server = server;
    this.site = site;
    this.everywhere = site.headers();
    this.requests =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            30,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MAX_QUEUED),
            StreamThreads.daemons());
    requests.allowCoreThreadTimeOut(true);
  }

  /**
   * Listens, at the next free port if the wanted one is taken.
   *
   * @param site makes what answers, once the address is known
   * @throws IOException if it cannot listen there, nor at one of the ports that follow
   */
  public static ConsoleServer start(
      InetSocketAddress wanted, Function<InetSocketAddress, ConsoleSite> site) throws IOException {
    HttpServer server = bind(wanted);
    ConsoleServer started = new ConsoleServer(server, site.apply(server.getAddress()));
    server.createContext("/", started::handle);
    server.setExecutor(started.requests);
    server.start();
    return started;
  }

  private static HttpServer bind(InetSocketAddress wanted) throws IOException {
    int last = wanted.getPort() == 0 ? 0 : Math.min(wanted.getPort() + PORTS, 65_535);
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

  /** Where it listens. */
  public InetSocketAddress address() {
    return server.getAddress();
  }

  /** How many streams are open. */
  public int openStreams() {
    return streams.open();
  }

  private void handle(HttpExchange exchange) {
    try {
      ConsoleResponse response = site.answer(request(exchange));
      if (response.delay().isZero()) {
        respond(exchange, response);
      } else if (delayed.tryAcquire()) {
        ScheduledFuture<?> unused =
            streams
                .timer()
                .schedule(
                    () -> {
                      delayed.release();
                      requests.execute(() -> respond(exchange, response));
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

  private static ConsoleRequest request(HttpExchange exchange) throws IOException {
    String method = exchange.getRequestMethod();
    Headers headers = exchange.getRequestHeaders();
    String query = exchange.getRequestURI().getRawQuery();
    byte[] body =
        method.equals("POST")
            ? exchange.getRequestBody().readNBytes(RequestGuard.MAX_BODY + 1)
            : new byte[0];
    return new ConsoleRequest(
        method,
        exchange.getRequestURI().getRawPath(),
        query == null ? "" : query,
        name -> headers.getOrDefault(name, List.of()),
        body,
        null);
  }

  private void respond(HttpExchange exchange, ConsoleResponse response) {
    ConsoleResponse.StreamBody stream = response.stream();
    if (stream == null) {
      try (exchange) {
        send(exchange, response);
      } catch (IOException | RuntimeException e) {
        log.debug("A client of the console has gone away.", e);
      }
    } else if (!streams.start(() -> write(exchange, response, stream))) {
      respond(exchange, streams.refusal());
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

  /** Ends streams and answers no more. */
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
