package io.mortise.console.internal.http;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
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

  static final int MAX_STREAMS = 32;

  private static final int THREADS = 16;
  private static final int MAX_QUEUED = 64;
  private static final int MAX_DELAYED = 64;
  private static final int PORTS = 20;
  private static final Duration WRITE_LIMIT = Duration.ofSeconds(10);

  private final HttpServer server;
  private final ThreadPoolExecutor requests;
  private final ScheduledThreadPoolExecutor timer;
  private final WriteLimit writeLimit;
  private final Semaphore streams = new Semaphore(MAX_STREAMS);
  private final Semaphore delayed = new Semaphore(MAX_DELAYED);
  private final Set<Thread> streaming = ConcurrentHashMap.newKeySet();
  private final ConsoleSite site;
  private final Map<String, String> everywhere;

  private ConsoleServer(HttpServer server, ConsoleSite site) {
    this.server = server;
    this.site = site;
    this.everywhere = site.headers();
    ThreadFactory threads = daemons();
    this.requests =
        new ThreadPoolExecutor(
            THREADS, THREADS, 30, TimeUnit.SECONDS, new LinkedBlockingQueue<>(MAX_QUEUED), threads);
    requests.allowCoreThreadTimeOut(true);
    this.timer = new ScheduledThreadPoolExecutor(1, threads);
    timer.setRemoveOnCancelPolicy(true);
    this.writeLimit = new WriteLimit(timer, WRITE_LIMIT);
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

  private void handle(HttpExchange exchange) {
    try {
      ConsoleResponse response = site.answer(request(exchange));
      if (response.delay().isZero()) {
        respond(exchange, response);
      } else if (delayed.tryAcquire()) {
        ScheduledFuture<?> unused =
            timer.schedule(
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
        body);
  }

  private void respond(HttpExchange exchange, ConsoleResponse response) {
    ConsoleResponse.StreamBody stream = response.stream();
    if (stream == null) {
      try (exchange) {
        send(exchange, response);
      } catch (IOException | RuntimeException e) {
        log.debug("A client of the console has gone away.", e);
      }
    } else if (streams.tryAcquire()) {
      startStream(exchange, response, stream);
    } else {
      respond(
          exchange,
          ConsoleResponse.error(
              new RefusedException(
                  503,
                  "busy",
                  MAX_STREAMS + " streams are open already.",
                  "Close tabs of the console.")));
    }
  }

  private void send(HttpExchange exchange, ConsoleResponse response) throws IOException {
    boolean none = exchange.getRequestMethod().equals("HEAD");
    byte[] body = none ? new byte[0] : response.body();
    writeLimit.run(
        () -> {
          sendHeaders(exchange, response, body.length == 0 ? -1 : body.length);
          if (body.length > 0) {
            OutputStream out = exchange.getResponseBody();
            out.write(body);
            out.close();
          }
        });
  }

  private void startStream(
      HttpExchange exchange, ConsoleResponse response, ConsoleResponse.StreamBody stream) {
    Thread thread =
        daemons()
            .newThread(
                () -> {
                  try (exchange) {
                    writeLimit.run(() -> sendHeaders(exchange, response, 0));
                    stream.writeTo(new EventSink(exchange.getResponseBody(), writeLimit));
                  } catch (IOException e) {
                    log.debug("A stream of the console has ended.", e);
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  } catch (RuntimeException e) {
                    log.warn("A stream of the console failed.", e);
                  } finally {
                    streaming.remove(Thread.currentThread());
                    streams.release();
                  }
                });
    streaming.add(thread);
    thread.start();
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
    streaming.forEach(Thread::interrupt);
    server.stop(0);
    requests.shutdownNow();
    timer.shutdownNow();
  }

  private static ThreadFactory daemons() {
    AtomicInteger count = new AtomicInteger();
    return task -> {
      Thread thread = new Thread(task, "mortise-console-" + count.incrementAndGet());
      thread.setDaemon(true);
      return thread;
    };
  }

  private static void setIfAbsent(String property, String value) {
    if (System.getProperty(property) == null) {
      System.setProperty(property, value);
    }
  }
}
