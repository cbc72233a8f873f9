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
 * link and no token: the application decides for each request.
 *
 * <p>A write needs a page of the same origin, by what the browser says. The servlet is to be mapped
 * to a folder, such as {@code /mortise/*}, with support for asynchronous requests; without that the
 * page polls. It starts to look at the store with the first request for data that may look, and
 * ends in {@link #destroy}: a servlet that nobody visits, or only those who may not, asks the store
 * nothing. The lock client stays the caller's. Thread-safe.
 *
 * <p>Containers wait for open requests before they call {@code destroy}, and the stream of an open
 * page is one: {@link #closeStreams} ends them first.
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

  /** To open the history file. Guarded by this. */
  private final transient RecentFailure recentFailure = new RecentFailure(Ticker.SYSTEM);

  /**
   * A servlet that is to be registered.
   *
   * @param settings not its address, {@link ConsoleBuilder#behind} and {@link
   *     ConsoleBuilder#token}, which are those of a server of its own
   * @param access what a request may have; called for each one, by threads of the container. A null
   *     counts as {@link ConsoleAccess#NONE}
   * @param writeHeaders what the application wants with each write, such as its CSRF token; read by
   *     the page, of the same user, before it writes. Each element has names of headers and their
   *     values. The page tries the next one where the application refuses a write by 401 or 403
   *     before it reaches this servlet. Empty for none
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
   * Starts to look at the store, once. Does not wait for it.
   *
   * @throws RefusedException if the history file cannot be used; a later request tries again
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
    // A file that is in use is waited for, and requests must not pile up behind that.
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
      // It has a path of the server, which not everybody who looks may know.
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
   * @throws IOException if the client is gone
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

  /** What looking has cost so far, and who looks. Costs nothing. */
  public ConsoleCost cost() {
    return ConsoleCost.of(observer, site.openStreams());
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
    Observer looking = observer;
    if (looking != null) {
      looking.close();
    }
  }
}
