package io.mortise.console.internal.http;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.console.view.OutputSanitizer;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers requests: the rules first, then the page's files or the API. */
public final class ConsoleSite {
  private static final Logger log = LoggerFactory.getLogger(ConsoleSite.class);
  private static final String API = "api/v1/";

  private final RequestGuard guard;
  private final PageFiles files;
  private final Function<ConsoleRequest, ConsoleResponse> api;
  private final String base;

  private ConsoleSite(
      RequestGuard guard,
      PageFiles files,
      Function<ConsoleRequest, ConsoleResponse> api,
      String base) {
    this.guard = guard;
    this.files = files;
    this.api = api;
    this.base = base;
  }

  /**
   * The site of a standalone server.
   *
   * @param address of the server
   * @param behind its public address behind a proxy; null without a proxy
   * @param api answers what is below {@code api/v1/}, by a path from there on
   */
  public static ConsoleSite alone(
      InetSocketAddress address,
      @Nullable URI behind,
      AccessToken token,
      Function<ConsoleRequest, ConsoleResponse> api) {
    String base = behind == null ? "/" : (behind.getRawPath() + "/").replaceAll("/+$", "/");
    return new ConsoleSite(new TokenGuard(address, behind, token), new PageFiles(), api, base);
  }

  /**
   * The site in an application, whose requests have a {@link Caller} and a path relative to the
   * page.
   *
   * @param api answers what is below {@code api/v1/}, by a path from there on
   */
  public static ConsoleSite inApplication(Function<ConsoleRequest, ConsoleResponse> api) {
    return new ConsoleSite(new ApplicationGuard(), new PageFiles(), api, "/");
  }

  /** Headers of every answer. */
  Map<String, String> headers() {
    return files.securityHeaders();
  }

  /** Whether a request may use the API, according to its head. */
  boolean admits(ConsoleRequest received) {
    try {
      return guard.admits(received);
    } catch (RefusedException e) {
      return false;
    }
  }

  /** Answers a request; never throws. */
  ConsoleResponse answer(ConsoleRequest received) {
    try {
      ConsoleRequest request = belowBase(received);
      guard.check(request);
      if (received.path().concat("/").equals(base)) {
        // The page's addresses are relative to its folder.
        return ConsoleResponse.movedTo(base);
      }
      if (!request.path().startsWith(API)) {
        return files.answer(request);
      }
      ConsoleResponse refusal = guard.refusal(request);
      if (refusal != null) {
        return refusal;
      }
      return api.apply(request.withPath(request.path().substring(API.length())));
    } catch (RefusedException e) {
      return ConsoleResponse.error(e);
    } catch (StoreUnavailableException e) {
      return failed(503, "store-unavailable", e, "Ask again in a second.");
    } catch (StoreUnfitException e) {
      return failed(503, "store-unfit", e, "");
    } catch (UnsupportedByStoreException e) {
      return failed(501, "unsupported", e, "");
    } catch (IllegalArgumentException e) {
      return failed(400, "bad-request", e, "");
    } catch (RuntimeException e) {
      log.warn("A request to the console failed.", e);
      return ConsoleResponse.error(
          new RefusedException(
              500, "defect", "This is a defect in the console.", "Its log says where."));
    }
  }

  private static ConsoleResponse failed(int status, String error, Exception e, String remedy) {
    String message = OutputSanitizer.message(e);
    return ConsoleResponse.error(new RefusedException(status, error, message, remedy));
  }

  /** Strips the base path, which a proxy may have stripped already. */
  private ConsoleRequest belowBase(ConsoleRequest request) {
    String path = request.path();
    if (path.startsWith(base)) {
      return request.withPath(path.substring(base.length()));
    }
    return request.withPath(path.startsWith("/") ? path.substring(1) : path);
  }
}
