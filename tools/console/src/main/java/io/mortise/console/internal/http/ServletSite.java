package io.mortise.console.internal.http;

import io.mortise.spi.time.Ticker;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The console in a servlet container. Thread-safe. */
public final class ServletSite implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ServletSite.class);

  /** The longest stream. The application checks a client's session only when a stream begins. */
  private static final long LONGEST_STREAM = Duration.ofMinutes(5).toNanos();

  private final ConsoleSite site;
  private final Map<String, String> everywhere;
  private final StreamThreads streams = new StreamThreads();
  private final Ticker ticker;

  /** Serves a site in a container. */
  public ServletSite(ConsoleSite site, Ticker ticker) {
    this.site = site;
    this.ticker = ticker;
    this.everywhere = site.headers();
  }

  /**
   * Answers a request.
   *
   * @throws IOException if the client has disconnected
   */
  public void answer(HttpServletRequest request, HttpServletResponse response, Caller caller)
      throws IOException {
    String prefix = request.getContextPath() + request.getServletPath();
    String path = request.getRequestURI();
    if (!path.startsWith(prefix)) {
      // The address has another spelling.
      send(response, ConsoleResponse.error(RefusedException.notFound()));
      return;
    }
    path = path.substring(prefix.length());
    if (path.isEmpty()) {
      // The page's addresses are relative to its folder. So is this one, independent of proxies.
      String folder = prefix.substring(prefix.lastIndexOf('/') + 1);
      send(response, ConsoleResponse.movedTo("./" + folder + "/"));
      return;
    }
    respond(request, response, site.answer(request(request, path, caller)));
  }

  private static ConsoleRequest request(HttpServletRequest request, String path, Caller caller)
      throws IOException {
    String query = request.getQueryString();
    return new ConsoleRequest(
        request.getMethod(),
        path,
        query == null ? "" : query,
        name -> Collections.list(request.getHeaders(name)),
        caller.mayAct() && request.getMethod().equals("POST")
            ? request.getInputStream().readNBytes(RequestGuard.MAX_BODY + 1)
            : new byte[0],
        caller);
  }

  private void respond(
      HttpServletRequest request, HttpServletResponse response, ConsoleResponse answer)
      throws IOException {
    ConsoleResponse.StreamBody stream = answer.stream();
    if (stream == null) {
      send(response, answer);
      return;
    }
    if (!request.isAsyncSupported()) {
      // The page polls instead.
      send(
          response,
          ConsoleResponse.error(
              new RefusedException(
                  501,
                  "unsupported",
                  "A filter or the servlet is registered without support for asynchronous"
                      + " requests.",
                  "Register them with it.")));
      return;
    }
    AsyncContext async = request.startAsync();
    async.setTimeout(0);
    if (!streams.start(() -> write(async, response, answer, stream))) {
      send(response, streams.refusal());
      async.complete();
    }
  }

  private void write(
      AsyncContext async,
      HttpServletResponse response,
      ConsoleResponse answer,
      ConsoleResponse.StreamBody stream)
      throws IOException, InterruptedException {
    long began = ticker.nanos();
    try {
      setHeaders(response, answer);
      stream.writeTo(
          new EventSink(
              response.getOutputStream(),
              streams.writeLimit(),
              () -> ticker.nanos() - began > LONGEST_STREAM));
    } finally {
      complete(async);
    }
  }

  private static void complete(AsyncContext async) {
    try {
      async.complete();
    } catch (IllegalStateException e) {
      log.debug("The container has ended a stream of the console already.", e);
    }
  }

  private void send(HttpServletResponse response, ConsoleResponse answer) throws IOException {
    setHeaders(response, answer);
    if (answer.body().length > 0) {
      response.setContentLength(answer.body().length);
      response.getOutputStream().write(answer.body());
    }
  }

  private void setHeaders(HttpServletResponse response, ConsoleResponse answer) {
    response.setStatus(answer.status());
    everywhere.forEach(response::setHeader);
    answer.headers().forEach(response::setHeader);
  }

  /** The number of open streams. */
  public int openStreams() {
    return streams.open();
  }

  /** Ends streams and refuses new ones. Other requests are answered as before. */
  @Override
  public void close() {
    streams.close();
  }
}
