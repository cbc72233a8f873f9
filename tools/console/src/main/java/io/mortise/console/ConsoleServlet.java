package io.mortise.console;

import io.mortise.admin.LockAdmin;
import io.mortise.annotation.Beta;
import io.mortise.console.internal.api.ConsoleApi;
import io.mortise.console.internal.http.Caller;
import io.mortise.console.internal.http.ConsoleSite;
import io.mortise.console.internal.http.RecentFailure;
import io.mortise.console.internal.http.RefusedException;
import io.mortise.console.internal.http.ServletSite;
import io.mortise.console.observer.Observer;
import io.mortise.spi.time.Ticker;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The console as a servlet of an application, behind the application's own security. There is no
 * link and no token: the application authorizes each request.
 *
 * <p>A write needs a page of the same origin, according to the browser. The servlet is to be mapped
 * to a folder, such as {@code /mortise/*}, with support for asynchronous requests; without that the
 * page polls. It observes the store from the first authorized request for data until {@link
 * #destroy}; until then it sends the store no requests. The caller keeps the lock client.
 * Thread-safe.
 *
 * <p>Containers wait for open requests, including the streams of open pages, before they call
 * {@code destroy}: {@link #closeStreams} ends the streams first.
 */
@Beta
public final class ConsoleServlet extends HttpServlet {
  private static final Logger log = LoggerFactory.getLogger(ConsoleServlet.class);

  private static final long serialVersionUID = 1;

  private final transient ConsoleBuilder settings;
  private final transient Function<HttpServletRequest, ConsoleAccess> access;
  private final transient Function<HttpServletRequest, List<Map<String, String>>> writeHeaders;
  private final transient ServletSite site;
  private transient volatile @Nullable Observer observer;
  private transient volatile @Nullable ConsoleApi api;

  /** Failures to open the history file. Guarded by this. */
  private final transient RecentFailure recentFailure = new RecentFailure(Ticker.SYSTEM);

  /**
   * Creates a servlet to be registered.
   *
   * @param settings without address, {@link ConsoleBuilder#behind} and {@link
   *     ConsoleBuilder#token}, which belong to a standalone server
   * @param access authorizes each request; called by threads of the container. A null counts as
   *     {@link ConsoleAccess#NONE}
   * @param writeHeaders headers that the application requires of each write, such as its CSRF
   *     token; read by the page, for the same user, before it writes. Each element has names of
   *     headers and their values. The page tries the next one if the application refuses a write by
   *     401 or 403 before it reaches this servlet. Empty for none
   * @throws IllegalArgumentException if {@code behind} or {@code token} is set
   */
  public ConsoleServlet(
      ConsoleBuilder settings,
      Function<HttpServletRequest, ConsoleAccess> access,
      Function<HttpServletRequest, List<Map<String, String>>> writeHeaders) {
    if (settings.behind != null || settings.token != null) {
      throw new IllegalArgumentException(
          "A console in an application has no link: leave out ConsoleBuilder.behind and token.");
    }
    this.settings = settings;
    this.access = access;
    this.writeHeaders = writeHeaders;
    this.site =
        new ServletSite(ConsoleSite.inApplication(request -> look().apply(request)), Ticker.SYSTEM);
  }

  /**
   * Starts to observe the store, once. Does not wait for it.
   *
   * @throws RefusedException if the history file cannot be used; a later request retries
   */
  private ConsoleApi look() {
    ConsoleApi looking = api;
    return looking == null ? begin() : looking;
  }

  private synchronized ConsoleApi begin() {
    ConsoleApi begun = api;
    if (begun != null) {
      return begun;
    }
    // Opening waits for a file in use, and requests must not pile up behind it.
    recentFailure.check();
    Ticker ticker = Ticker.SYSTEM;
    InstantSource clock = InstantSource.system();
    LockAdmin admin = settings.client.admin();
    Observer looking = observer(admin, ticker, clock);
    ConsoleApi made = settings.api(admin, looking, ticker, clock);
    observer = looking;
    looking.start();
    api = made;
    return made;
  }

  private Observer observer(LockAdmin admin, Ticker ticker, InstantSource clock) {
    try {
      return settings.observer(admin, ticker, clock);
    } catch (IllegalArgumentException | UncheckedIOException e) {
      // The message has a path of the server, which not every visitor may know.
      log.warn("The console has no history file, and answers nothing until it has.", e);
      recentFailure.remember(ConsoleServlet::noHistoryFile);
      throw noHistoryFile();
    }
  }

  private static RefusedException noHistoryFile() {
    return new RefusedException(
        503,
        "history-file",
        "The history file cannot be used: the log of the application says why.",
        "The console tries again.");
  }

  /**
   * Answers a request.
   *
   * @throws IOException if the client has disconnected
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
    site.answer(request, response, caller);
  }

  private static String origin(HttpServletRequest request) {
    String scheme = request.getScheme();
    int port = request.getServerPort();
    boolean usual = port == (scheme.equals("https") ? 443 : 80);
    return scheme + "://" + request.getServerName() + (usual ? "" : ":" + port);
  }

  /** Returns the cost of observation so far, and the number of open pages. Sends no request. */
  public ConsoleCost cost() {
    return ConsoleCost.of(observer, site.openStreams());
  }

  /**
   * Ends the streams of open pages and refuses new ones; other requests are answered as before. To
   * be called when the application begins to shut down. Does not wait.
   */
  public void closeStreams() {
    site.close();
  }

  /** Ends its streams and stops observing. */
  @Override
  public synchronized void destroy() {
    closeStreams();
    Observer looking = observer;
    if (looking != null) {
      looking.close();
    }
  }
}
