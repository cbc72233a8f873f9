package io.mortise.spi;

import io.mortise.LockName;
import io.mortise.Store;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.annotation.Beta;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A running system that keeps lock tables; implemented by each backend. Every step is atomic,
 * bounded (at most 64 items, then {@code more}) and the same as in the in-memory reference machine,
 * with which each store is compared.
 *
 * <p>Nothing here retries, sleeps or waits for a lock: the engine decides which attempt waits, when
 * to retry and how to treat a missing answer. Thread-safe. Stages complete exceptionally with
 * {@link io.mortise.StoreUnavailableException} if the store does not answer.
 */
public interface LockStore extends Store {
  /**
   * Opens the store of a URL with the provider for its scheme. For tools that look at a store;
   * applications use {@link io.mortise.LockClient#connect}. Blocks.
   *
   * @throws IllegalArgumentException if no store knows the URL's scheme, a parameter of it is
   *     unknown or wrong, or its password was replaced by stars
   * @throws io.mortise.StoreUnavailableException if the store cannot be reached
   * @throws io.mortise.StoreUnfitException if it is reachable but must not be used as it is
   */
  @Beta
  static LockStore connect(StoreUrl url) {
    url.refuseMasked();
    List<Error> broken = new ArrayList<>();
    TreeSet<String> known = new TreeSet<>();
    String family = url.scheme().replaceFirst(":.*", "");
    LockStoreProvider ofFamily = null;
    for (LockStoreProvider provider : providers(broken)) {
      if (provider.schemes().contains(url.scheme())) {
        return provider.open(url);
      }
      known.addAll(provider.schemes());
      if (ofFamily == null && provider.schemes().contains(family)) {
        ofFamily = provider;
      }
    }
    if (ofFamily != null) {
      return ofFamily.open(url);
    }
    String text = unknown(url, known);
    for (Error error : broken) {
      text += " A store there cannot be loaded: " + error.getMessage() + ".";
    }
    IllegalArgumentException unknown = new IllegalArgumentException(text);
    broken.forEach(unknown::addSuppressed);
    throw unknown;
  }

  /**
   * The providers of the library's class loader, then those of the calling thread's: that one may
   * know more, as in a container, or none, as on a thread of the common pool.
   *
   * @param broken receives the load failures of the library's own providers; they concern no other
   *     store
   */
  private static List<LockStoreProvider> providers(List<Error> broken) {
    ClassLoader own = LockStoreProvider.class.getClassLoader();
    ClassLoader context = Thread.currentThread().getContextClassLoader();
    List<LockStoreProvider> found = new ArrayList<>();
    load(ServiceLoader.load(LockStoreProvider.class, own), found, broken);
    if (context != null && context != own) {
      // The loader may have another copy of the library, whose providers do not implement this
      // type.
      load(ServiceLoader.load(LockStoreProvider.class, context), found, new ArrayList<>());
    }
    return found;
  }

  private static void load(
      ServiceLoader<LockStoreProvider> loader, List<LockStoreProvider> found, List<Error> broken) {
    Iterator<LockStoreProvider> providers = loader.iterator();
    while (broken.size() < 10) { // an unreadable file of services fails each time
      try {
        if (!providers.hasNext()) {
          return;
        }
        found.add(providers.next());
      } catch (ServiceConfigurationError | LinkageError e) {
        broken.add(e);
      }
    }
  }

  private static String unknown(StoreUrl url, Set<String> known) {
    String scheme = url.scheme();
    String message = "No store for '" + url + "'. ";
    String artifact = artifactOf(scheme);
    if (artifact != null) {
      return message + "Add the artifact " + artifact + " to the class path.";
    }
    return message
        + NameSuggestion.scheme(scheme, known)
            .map(meant -> "Did you mean '" + meant + ":'? ")
            .orElse("")
        + (known.isEmpty()
            ? "No store is on the class path."
            : "On the class path are: " + String.join(", ", known) + ".");
  }

  /** The artifact that brings one of the library's schemes; null for another scheme. */
  private static @Nullable String artifactOf(String scheme) {
    if (scheme.matches("rediss?(-sentinel|-cluster|-sharded|-plain)?")) {
      return "mortise-redis";
    } else if (scheme.startsWith("jdbc:")) {
      return "mortise-jdbc";
    }
    return switch (scheme) {
      case "consul", "dynamodb", "etcd", "memcached", "nats", "quorum" -> "mortise-" + scheme;
      case "mem" -> "mortise-store-support";
      case "zk" -> "mortise-zookeeper";
      case "zk+curator" -> "mortise-curator";
      default -> null;
    };
  }

  /** The store's name and capabilities. */
  StoreProfile profile();

  /**
   * The incarnation of the server when the store was opened; null if it never forgets an answer, or
   * does not report it.
   */
  default @Nullable ServerIncarnation incarnation() {
    return null;
  }

  /**
   * Whether sessions of this TTL are safe here: called once by each client, before it opens any.
   * The default refuses a TTL shorter than {@link StoreProfile#minTtl}.
   *
   * @throws IllegalArgumentException if they are not; the message names a TTL that is
   */
  default void checkTtl(Duration ttl) {
    Duration least = profile().minTtl();
    if (ttl.compareTo(least) < 0) {
      throw new IllegalArgumentException(
          "A session TTL of %s is shorter than store '%s' can keep. Give at least %s."
              .formatted(
                  DurationText.formatExact(ttl),
                  profile().display(),
                  DurationText.formatExact(least)));
    }
  }

  /**
   * Prepares a session; sends nothing, does not block, and throws nothing. The first renewal
   * creates it.
   *
   * @param hints receives pushed notifications; called on any thread while no lock of the store is
   *     held; must be fast
   */
  StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints);

  /**
   * Decides whether a session has ended, by the store's own time, and if so ends it for good. A
   * step of its own: no other step decides that a holder is dead. Completes exceptionally with
   * {@link io.mortise.UnsupportedByStoreException} if the store keeps no sessions ({@link
   * Capability#SESSION}).
   */
  CompletionStage<SessionVerdict> judge(SessionId session);

  /**
   * Reads locks without changing anything. A query for a {@linkplain LockQuery.Detail#SUMMARY
   * summary} is for tools that read all locks again and again: a store that can read less detail in
   * fewer round trips does so, with the same locks and the same rules for cursors.
   */
  CompletionStage<Page<LockInfo>> inspect(LockQuery query);

  /**
   * Lists sessions, alive or over, without changing anything. The default refuses: {@link #inspect}
   * shows the holds and waits of sessions, but no session without any.
   *
   * @param cursor {@link Page#next()} of the page before; null for the first
   * @param limit the most sessions of a page, 1 to 1000
   * @return completes exceptionally with {@link io.mortise.UnsupportedByStoreException} if the
   *     store cannot list them, or keeps none ({@link Capability#SESSION})
   */
  @Beta
  default CompletionStage<Page<SessionInfo>> sessions(@Nullable String cursor, int limit) {
    return CompletableFuture.failedFuture(
        new UnsupportedByStoreException(
            "Store '%s' cannot list sessions. Look at the holders and waiters of its locks."
                .formatted(profile().display())));
  }

  /**
   * Ends an attempt from outside, and leaves {@link SessionNotification.HoldEnded} for its session.
   *
   * @return {@link Reply.Ended}, with the attempt's former state as {@code was}; for {@link
   *     Eviction#CLOSE} a hold may still stand, but {@code how} is {@link Reply.EndReason#EVICTED}
   *     even then; completes exceptionally with {@link io.mortise.UnsupportedByStoreException} if
   *     the store cannot evict
   */
  CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how);

  /**
   * Opens a lock that an ended hold keeps shut (its at-least time, or a crash under one), and
   * serves the queue. Existing holds keep their own at-least times.
   *
   * @return whether it was shut; completes exceptionally with {@link
   *     io.mortise.UnsupportedByStoreException} if the store cannot evict
   */
  default CompletionStage<Boolean> reopen(LockName name) {
    return CompletableFuture.failedFuture(
        new UnsupportedByStoreException("Store '" + profile().display() + "' cannot open locks."));
  }

  /**
   * Reads the text under a name. Sees every replacement that was answered before.
   *
   * @return {@link Fact#NONE} if there is none; completes exceptionally with {@link
   *     io.mortise.UnsupportedByStoreException} if the store keeps none ({@link Capability#FACTS})
   */
  @Beta
  default CompletionStage<Fact> readFact(LockName name) {
    return CompletableFuture.failedFuture(factsRefusal());
  }

  /**
   * Replaces the text under a name if its version is the given one, in one atomic step. If the
   * answer is lost, a retry finds another version: the caller must tell by the content whether the
   * step was executed.
   *
   * @param version the version from {@link #readFact}; 0 for no text
   * @param content as {@link Fact} describes it
   * @param keep how long the store keeps the text; from 1 ms to ten years. A clockless store uses
   *     the hosts' time of day, so a host whose clock is ahead of the writer's forgets the text
   *     earlier by the difference
   * @return the new version; 0 if another one stands, and nothing was changed; completes
   *     exceptionally with {@link io.mortise.UnsupportedByStoreException} if the store keeps none
   *     ({@link Capability#FACTS})
   */
  @Beta
  default CompletionStage<Long> replaceFact(
      LockName name, long version, String content, Duration keep) {
    return CompletableFuture.failedFuture(factsRefusal());
  }

  /**
   * The exception with which {@link #readFact} and {@link #replaceFact} fail unless they are
   * overridden: why this store keeps no texts, and the alternative.
   */
  @Beta
  default UnsupportedByStoreException factsRefusal() {
    return new UnsupportedByStoreException(
        "Store '%s' keeps nothing but locks (FACTS). Take one that keeps more: %s."
            .formatted(profile().display(), StoreProfile.FULL_STORES));
  }

  /**
   * Removes leftovers of dead processes and idle locks: at most {@code budget} sessions and locks,
   * and at most 64 holders of each lock.
   *
   * @return how many were removed
   */
  CompletionStage<Integer> sweep(int budget);

  /**
   * Whether this process is to {@link #sweep} now. Each client that has acquired a lock calls this
   * about once a minute. In a store where a sweep scans all entries, one process sweeps for all:
   * the process that gets true. By default every process sweeps.
   */
  default CompletionStage<Boolean> claimSweep() {
    return CompletableFuture.completedFuture(true);
  }

  /**
   * Reads the server's own settings, as far as they change the guarantees of its locks. Changes
   * nothing, and shows no secret; an unreadable setting is {@link StoreReport.Grade#UNKNOWN}. The
   * default knows nothing.
   */
  @Beta
  default CompletionStage<StoreReport> examine() {
    return CompletableFuture.completedFuture(StoreReport.about("").build());
  }

  /**
   * Called by a thread that has sent a request and is about to park until it is answered. If
   * answers are faster than the wake-up of a thread, a store may let the thread send the request
   * and read its answer itself; most do nothing. Never called on a virtual thread. Returns whether
   * or not the answer has come; the caller checks for an interrupt afterwards.
   *
   * @param done whether the thread has no reason to wait any more; quick, and may be called often
   * @param longest how long the thread would wait for an answer; a store that might keep it for
   *     more than two milliseconds longer must return at once
   */
  default void helpWhileWaiting(BooleanSupplier done, Duration longest) {}

  /**
   * Closes connections and threads that the store made. Sessions should be closed before. Blocks
   * for seconds at most. A second call does nothing.
   */
  @Override
  void close();
}
