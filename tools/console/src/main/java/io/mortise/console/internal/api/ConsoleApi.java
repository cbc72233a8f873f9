package io.mortise.console.internal.api;

import io.mortise.LockName;
import io.mortise.admin.LockAdmin;
import io.mortise.console.internal.http.Caller;
import io.mortise.console.internal.http.ConsoleRequest;
import io.mortise.console.internal.http.ConsoleResponse;
import io.mortise.console.internal.http.RefusedException;
import io.mortise.console.observer.Observer;
import io.mortise.spi.StoreReport;
import io.mortise.spi.time.Ticker;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Maps paths to answers. */
public final class ConsoleApi implements Function<ConsoleRequest, ConsoleResponse> {
  /** A control character that may precede a name, and is in none. */
  private static final String BEFORE_DOTS = "\u007f";

  /**
   * The most concurrent answers that wait for the store. Each blocks a thread while the store is
   * silent: the application's, or one of the console's sixteen.
   */
  private static final int MOST_LOOKS = 8;

  private final Semaphore looks = new Semaphore(MOST_LOOKS);
  private final LockAdmin admin;
  private final @Nullable String namespace;
  private final Observer observer;
  private final Ticker ticker;
  private final Set<String> allowed;
  private final ExaminedStore health;
  private final EvictionEndpoint evictions;

  /**
   * @param namespace of the store; null if unknown or if it has none
   * @param allowed of {@code close}, {@code break} and {@code open}
   * @param examine examines the store's settings; null if unsupported
   */
  public ConsoleApi(
      LockAdmin admin,
      @Nullable String namespace,
      Observer observer,
      Set<String> allowed,
      @Nullable Supplier<StoreReport> examine,
      Ticker ticker,
      InstantSource clock) {
    this.admin = admin;
    this.namespace = namespace;
    this.observer = observer;
    this.ticker = ticker;
    this.allowed = Set.copyOf(allowed);
    this.health = new ExaminedStore(examine, admin.store().display(), ticker, clock);
    this.evictions = new EvictionEndpoint(admin, observer, allowed);
  }

  @Override
  public ConsoleResponse apply(ConsoleRequest request) {
    observer.watched();
    List<String> path = path(request);
    if (request.method().equals("POST")) {
      return write(path, request);
    }
    if (!request.method().equals("GET")) {
      throw RefusedException.methodNotAllowed("GET");
    }
    return path.size() == 1 ? all(path.get(0), request) : one(path, request);
  }

  /**
   * The parts of the path. {@code lock} with the name in the query is the same as {@code
   * locks/NAME}: many servers and firewalls reject escaped slashes in a path.
   */
  private static List<String> path(ConsoleRequest request) {
    List<String> path = request.segments();
    if (!path.get(0).equals("lock")) {
      return path;
    }
    List<String> same = new ArrayList<>(path);
    same.set(0, "locks");
    same.add(1, new Parameters(request).text("name"));
    return same;
  }

  /** The actions that this caller may do. */
  private Set<String> allowed(ConsoleRequest request) {
    Caller caller = request.caller();
    return caller == null || caller.mayAct() ? allowed : Set.of();
  }

  private ConsoleResponse all(String what, ConsoleRequest request) {
    Parameters parameters = new Parameters(request);
    return switch (what) {
      case "status" -> json(status(allowed(request)));
      case "locks" ->
          // The text may be the name of a lock that no survey has seen.
          parameters.text("q").isEmpty() ? locks(request) : looking(() -> locks(request));
      case "waits" -> json(WaitsReport.json(observer));
      case "processes" -> json(ProcessList.json(observer, parameters));
      case "events" -> json(EventList.json(observer, parameters, null));
      case "doctor" -> doctor(parameters.flag("fresh"));
      case "guarantees" -> json(health.guarantees(parameters.text("mode")));
      case "hazards" -> json(health.hazards());
      case "stream" ->
          ConsoleResponse.stream(
              new LiveStream(observer, ticker, () -> status(allowed(request)), request));
      case "write-headers" -> json(writeHeaders(request));
      default -> throw RefusedException.notFound();
    };
  }

  private ConsoleResponse one(List<String> path, ConsoleRequest request) {
    String name = name(path.get(1));
    if (path.size() == 2 && path.get(0).equals("locks")) {
      checkName(name);
      observer.watched(name);
      return looking(() -> json(LockDetail.json(observer, observer.recent(name))));
    }
    if (path.size() == 3 && path.get(0).equals("locks") && path.get(2).equals("history")) {
      checkName(name);
      return json(EventList.json(observer, new Parameters(request), name));
    }
    if (path.size() == 2 && path.get(0).equals("processes")) {
      return json(ProcessList.json(observer, name));
    }
    throw RefusedException.notFound();
  }

  private ConsoleResponse doctor(boolean fresh) {
    return health.isKnown(fresh)
        ? json(health.doctor(fresh))
        : looking(() -> json(health.doctor(fresh)));
  }

  private ConsoleResponse looking(Supplier<ConsoleResponse> answer) {
    if (!looks.tryAcquire()) {
      throw RefusedException.busy(
          MOST_LOOKS + " requests wait for the store already.", "Ask again in a second.");
    }
    try {
      return answer.get();
    } finally {
      looks.release();
    }
  }

  private ConsoleResponse write(List<String> path, ConsoleRequest request) {
    if (path.size() == 3 && path.get(0).equals("locks") && !allowed(request).isEmpty()) {
      String name = name(path.get(1));
      checkName(name);
      if (path.get(2).equals("evict")) {
        return looking(() -> evictions.evict(name, request));
      }
      if (path.get(2).equals("open")) {
        return looking(() -> evictions.open(name, request));
      }
    }
    throw RefusedException.notFound();
  }

  private ConsoleResponse locks(ConsoleRequest request) {
    LockList list = new LockList(observer, request);
    String accepted = request.header("Accept");
    if (accepted != null && accepted.startsWith("text/csv")) {
      return ConsoleResponse.of(
              "text/csv; charset=utf-8", list.csv().getBytes(StandardCharsets.UTF_8))
          .with("Cache-Control", "no-store")
          .with("Content-Disposition", "attachment; filename=\"locks.csv\"");
    }
    return json(list.answer());
  }

  private Map<String, @Nullable Object> status(Set<String> may) {
    Map<String, @Nullable Object> json =
        StatusReport.json(observer, admin.store(), health.mode(), may);
    json.put("namespace", namespace);
    return json;
  }

  private static Map<String, @Nullable Object> writeHeaders(ConsoleRequest request) {
    Caller caller = request.caller();
    if (caller == null) {
      throw RefusedException.notFound();
    }
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("forms", caller.writeHeaders().get());
    return json;
  }

  private static ConsoleResponse json(Map<String, @Nullable Object> json) {
    return ConsoleResponse.json(200, json);
  }

  /**
   * Decodes a name. Browsers and proxies resolve {@code .} and {@code ..} as folders, even escaped.
   */
  private static String name(String segment) {
    return segment.startsWith(BEFORE_DOTS) ? segment.substring(BEFORE_DOTS.length()) : segment;
  }

  static void checkName(String name) {
    LockName.of(name);
  }
}
