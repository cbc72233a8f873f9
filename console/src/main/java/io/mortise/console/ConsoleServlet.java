package io.mortise.console;

import io.mortise.admin.LockAdmin;
import io.mortise.annotation.Beta;
import io.mortise.console.internal.api.ConsoleApi;
import io.mortise.console.internal.http.Caller;
import io.mortise.console.internal.http.ConsoleSite;
import io.mortise.console.internal.http.ServletSite;
import io.mortise.console.internal.observer.Observer;
import io.mortise.spi.time.Ticker;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.InstantSource;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The console as a servlet of an application, behind the application's own security. There is no
 * link and no token: the application decides for each request.
 *
 * <p>A write needs a page of the same origin, by what the browser says. The servlet is to be mapped
 * to a folder, such as {@code /mortise/*}, with support for asynchronous requests; without that the
 * page polls. It starts to look at the store with the first request that may look, and ends in
 * {@link #destroy}: a servlet that nobody visits, or only those who may not, asks the store
 * nothing. The lock client stays the caller's. Thread-safe.
 *
 * <p>Containers wait for open requests before they call {@code destroy}, and the stream of an open
 * page is one: {@link #closeStreams} ends them first.
 */
@Beta
public final class ConsoleServlet extends HttpServlet {
  private static final long serialVersionUID = 1;

  private final transient ConsoleBuilder settings;
  private final transient Function<HttpServletRequest, ConsoleAccess> access;
  private final transient Function<HttpServletRequest, Map<String, String>> writeHeaders;
  private final transient ServletSite site;
  private transient @Nullable Observer observer;
  private transient volatile @Nullable ConsoleApi api;

  /**
   * A servlet that is to be registered.
   *
   * @param settings not its address, {@link ConsoleBuilder#behind} and {@link
   *     ConsoleBuilder#token}, which are those of a server of its own
   * @param access what a request may have; called for each one, by threads of the container. A null
   *     counts as {@link ConsoleAccess#NONE}
   * @param writeHeaders what the application wants with each write, such as its CSRF token; read by
   *     the page, of the same user, before it writes. Names of headers and their values
   * @throws IllegalArgumentException if {@code behind} or {@code token} is set
   */
  public ConsoleServlet(
      ConsoleBuilder settings,
      Function<HttpServletRequest, ConsoleAccess> access,
      Function<HttpServletRequest, Map<String, String>> writeHeaders) {
    if (settings.behind != null || settings.token != null) {
      throw new IllegalArgumentException(
          "A console in an application has no link: leave out ConsoleBuilder.behind and token.");
    }
    this.settings = settings;
    this.access = access;
    this.writeHeaders = writeHeaders;
    this.site =
        new ServletSite(
            ConsoleSite.inApplication(
                request -> Objects.requireNonNull(api, "nobody may look").apply(request)),
            Ticker.SYSTEM);
  }

  /**
   * Starts to look at the store, once. Does not wait for it.
   *
   * @throws IllegalArgumentException if the history file is one of another store or of something
   *     else
   * @throws java.io.UncheckedIOException if it cannot be used, or its tables are of another version
   */
  private synchronized void look() {
    if (api != null) {
      return;
    }
    Ticker ticker = Ticker.SYSTEM;
    InstantSource clock = InstantSource.system();
    LockAdmin admin = settings.client.admin();
    Observer looking = settings.observer(admin, ticker, clock);
    api = settings.api(admin, looking, ticker, clock);
    observer = looking;
    looking.start();
  }

  /**
   * Answers a request.
   *
   * @throws IOException if the client is gone
   * @throws RuntimeException if the request may look and the history file cannot be used, or is one
   *     of another store or of something else
   */
  @Override
  protected void service(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    ConsoleAccess granted = access.apply(request);
    Caller caller =
        new Caller(
            request.getRemoteUser(),
            granted == ConsoleAccess.LOOK || granted == ConsoleAccess.ACT,
            granted == ConsoleAccess.ACT,
            origin(request),
            () -> writeHeaders.apply(request));
    if (caller.mayLook()) {
      look();
    }
    site.answer(request, response, caller);
  }

  private static String origin(HttpServletRequest request) {
    String scheme = request.getScheme();
    int port = request.getServerPort();
    boolean usual = port == (scheme.equals("https") ? 443 : 80);
    return scheme + "://" + request.getServerName() + (usual ? "" : ":" + port);
  }

  /**
   * Ends the streams of open pages and refuses new ones; everything else is answered as before. To
   * be called when the application begins to shut down. Does not wait.
   */
  public void closeStreams() {
    site.close();
  }

  /** Ends its streams and looks no more. */
  @Override
  public synchronized void destroy() {
    closeStreams();
    if (observer != null) {
      observer.close();
    }
  }
}
