package io.mortise.console;

import io.mortise.LockClient;
import io.mortise.admin.LockAdmin;
import io.mortise.annotation.Beta;
import io.mortise.console.internal.api.ConsoleApi;
import io.mortise.console.observer.HistoryFile;
import io.mortise.console.observer.Observer;
import io.mortise.console.view.OutputSanitizer;
import io.mortise.spi.StoreReport;
import io.mortise.spi.time.Ticker;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Settings of a {@link Console}. Not thread-safe. */
@Beta
public final class ConsoleBuilder {
  /** The default port. */
  public static final int DEFAULT_PORT = 7420;

  private static final double DEFAULT_BUDGET = 0.01;

  final LockClient client;
  final Set<ConsoleAction> allowed = EnumSet.noneOf(ConsoleAction.class);
  @Nullable InetSocketAddress address;
  double budget = DEFAULT_BUDGET;
  @Nullable URI behind;
  @Nullable String token;
  @Nullable Supplier<StoreReport> diagnostics;
  @Nullable Path history;
  @Nullable String namespace;

  ConsoleBuilder(LockClient client) {
    this.client = client;
  }

  /**
   * Sets the only address to listen on; port 0 takes any free one. The default is port 7420 of the
   * loopback address, or the next free one of twenty if neither {@link #behind} nor {@link #token}
   * is set. With them the port must not change: a proxy or a stored link would lead to the program
   * at the taken port.
   *
   * @throws IllegalArgumentException if the host is unknown
   */
  public ConsoleBuilder listen(InetSocketAddress where) {
    if (where.isUnresolved()) {
      throw new IllegalArgumentException(
          "Host '" + where.getHostString() + "' to listen at is not known.");
    }
    this.address = where;
    return this;
  }

  /** Sets the allowed actions; none by default. */
  public ConsoleBuilder allow(Set<ConsoleAction> actions) {
    allowed.clear();
    allowed.addAll(actions);
    return this;
  }

  /**
   * Sets the public address, of a proxy that provides TLS and authentication.
   *
   * @throws IllegalArgumentException if it is not a URL like {@code https://ops.example.com/locks}
   */
  public ConsoleBuilder behind(URI url) {
    String scheme = url.getScheme();
    if (scheme == null
        || !(scheme.equals("https") || scheme.equals("http"))
        || url.getHost() == null
        || url.getRawUserInfo() != null
        || url.getRawQuery() != null
        || url.getRawFragment() != null) {
      throw new IllegalArgumentException(
          "The address of the proxy has to be a URL like https://ops.example.com/locks.");
    }
    this.behind = url;
    return this;
  }

  /**
   * Sets the share of the store's time for the console's surveys; 0.01 by default.
   *
   * @throws IllegalArgumentException if it is not above 0 and at most 1
   */
  public ConsoleBuilder budget(double share) {
    if (!(share > 0 && share <= 1)) {
      throw new IllegalArgumentException("The budget has to be above 0 and at most 1 (100%).");
    }
    this.budget = share;
    return this;
  }

  /**
   * Sets the secret in the link, required from each request; random for each start by default.
   * {@link #start()} checks it.
   */
  public ConsoleBuilder token(String secret) {
    this.token = secret;
    return this;
  }

  /** Sets the namespace of the client's store, to be shown beside it; none by default. */
  public ConsoleBuilder namespace(String name) {
    this.namespace = name;
    return this;
  }

  /**
   * Keeps the history in a SQLite file as well: 100,000 events, including those of earlier
   * consoles. Needs the driver {@code org.xerial:sqlite-jdbc}. A file belongs to one store, and to
   * one console at a time.
   *
   * @param file created at the start if missing; its folder has to exist
   */
  public ConsoleBuilder history(Path file) {
    this.history = file;
    return this;
  }

  /** Returns an observer that is not started. */
  Observer observer(LockAdmin admin, Ticker ticker, InstantSource clock) {
    HistoryFile opened =
        history == null
            ? null
            : HistoryFile.open(history, OutputSanitizer.hide(admin.store().display()));
    try {
      return new Observer(admin, budget, opened, ticker, clock);
    } catch (RuntimeException e) {
      if (opened != null) {
        opened.close();
      }
      throw e;
    }
  }

  /** Returns an API that answers from an observer. */
  ConsoleApi api(LockAdmin admin, Observer observer, Ticker ticker, InstantSource clock) {
    Set<String> words = allowed.stream().map(ConsoleAction::toString).collect(Collectors.toSet());
    return new ConsoleApi(admin, namespace, observer, words, diagnostics, ticker, clock);
  }

  /**
   * Sets a function that examines the store's server. Called from threads of the console; may
   * block.
   */
  public ConsoleBuilder diagnostics(Supplier<StoreReport> examine) {
    this.diagnostics = examine;
    return this;
  }

  /**
   * Starts to listen, on the address in {@link Console#url()}, and to observe the store. Does not
   * wait for the store.
   *
   * @throws IllegalArgumentException if the address is not a loopback address and {@link #behind}
   *     is not set, or the token is below 20 characters or has characters other than letters,
   *     digits and {@code . _ ~ -}; or the history file belongs to another store, or is no history
   *     file
   * @throws java.io.UncheckedIOException if it cannot listen there, or cannot use the history file,
   *     for instance as its tables are of another version
   */
  public Console start() {
    return Console.start(this);
  }
}
