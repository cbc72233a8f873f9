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
 * A running system that keeps lock tables: what a backend implements. Every step is atomic, bounded
 * (at most 64 items, then {@code more}) and the same as that of the in-memory reference machine,
 * with which each store is compared.
 *
 * <p>Nothing here retries, sleeps or waits for a lock: who waits, when to ask again and what a
 * silence means is decided by the engine. Thread-safe. Stages complete exceptionally with {@link
 * io.mortise.StoreUnavailableException} if the store does not answer.
 */
public interface LockStore extends Store {
  /**
   * Opens the store of a URL: that of the provider which knows its scheme. For tools that look at a
   * store; applications use {@link io.mortise.LockClient#connect}. Blocks.
   *
   * @throws IllegalArgumentException if no store knows the URL's scheme, a parameter of it is
   *     unknown or wrong, or its password was replaced by stars
   * @throws io.mortise.StoreUnavailableException if the store cannot be reached
   * @throws io.mortise.StoreUnfitException if it can, but must not be used as it is
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
   * The stores of the library's class loader, then those of the calling thread's: it may know more,
   * as in a container, or none, as on a thread of the common pool.
   *
   * @param broken gets the failures of those of the library's own that cannot be loaded, which
   *     concern no other store
   */
  private static List<LockStoreProvider> providers(List<Error> broken) {
    ClassLoader own = LockStoreProvider.class.getClassLoader();
    ClassLoader context = Thread.currentThread().getContextClassLoader();
    List<LockStoreProvider> found = new ArrayList<>();
    load(ServiceLoader.load(LockStoreProvider.class, own), found, broken);
    if (context != null && context != own) {
      // It may have another copy of the library, none of whose stores is one here.
      load(ServiceLoader.load(LockStoreProvider.class, context), found, new ArrayList<>());
    }
    return found;
  }

  private static void load(
      ServiceLoader<LockStoreProvider> loader, List<LockStoreProvider> found, List<Error> broken) {
    Iterator<LockStoreProvider> providers = loader.iterator();
    while (broken.size() < 10) { // a file of services that cannot be read fails for ever
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

  /** The artifact that brings a scheme of ours; null for another scheme. */
  private static @Nullable String artifactOf(String scheme) {
    if (scheme.matches("rediss?(-sentinel|-cluster|-sharded|-plain)?")) {
      return "mortise-redis";
    } else if (scheme.startsWith("jdbc:")) {
      return "mortise-jdbc";
    }
    return switch (scheme) {
      case "consul" -> "mortise-consul";
      case "dynamodb" -> "mortise-dynamodb";
      case "etcd" -> "mortise-etcd";
      case "nats" -> "mortise-nats";
      case "mem" -> "mortise-store-support";
      case "memcached" -> "mortise-memcached";
      case "zk" -> "mortise-zookeeper";
      case "zk+curator" -> "mortise-curator";
      case "quorum" -> "mortise-quorum";
      default -> null;
    };
  }

  /** What it is and can do. */
  StoreProfile profile();

  /**
   * The incarnation of the server when the store was opened; null if it never forgets what it
   * answered, or does not tell.
   */
  default @Nullable ServerIncarnation incarnation() {
    return null;
  }

  /**
   * Whether sessions of this TTL are safe here: asked once by each client, before it opens any. The
   * default refuses what is shorter than {@link StoreProfile#minTtl}.
   *
   * @throws IllegalArgumentException if they are not; the message says what to give instead
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
   * @param hints receives pushed notifications; called on any thread, with no lock of the store
   *     held, must be fast
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
   * Looks at locks without changing anything. A query for a {@linkplain LockQuery.Detail#SUMMARY
   * summary} is for tools that look at all locks again and again: a store that tells little of many
   * locks in fewer round trips does so then, with the same locks and the same cursor's rules.
   */
  CompletionStage<Page<LockInfo>> inspect(LockQuery query);

  /**
   * Lists sessions, alive or over, without changing anything. The default refuses: what hangs on a
   * session is seen by {@link #inspect}, but not a session on which nothing hangs.
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
   * Ends somebody's attempt from outside, and leaves {@link SessionNotification.HoldEnded} for its
   * session.
   *
   * @return {@link Reply.Ended} with {@code was} telling what the attempt did; for {@link
   *     Eviction#CLOSE} a hold may still stand, {@code how} is then {@link Reply.EndReason#EVICTED}
   *     all the same; completes exceptionally with {@link io.mortise.UnsupportedByStoreException}
   *     if the store cannot evict
   */
  CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how);

  /**
   * Opens a lock that a hold which has ended keeps shut (its at-least time, or a crash under one),
   * and serves the queue. Holds stand, with their own at-least times.
   *
   * @return whether it was shut; completes exceptionally with {@link
   *     io.mortise.UnsupportedByStoreException} if the store cannot evict
   */
  default CompletionStage<Boolean> reopen(LockName name) {
    return CompletableFuture.failedFuture(
        new UnsupportedByStoreException("Store '" + profile().display() + "' cannot open locks."));
  }

  /**
   * Reads the text under a name, as it stands after every replacement that was answered before.
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
   * answer is lost, a repetition finds another version: whoever repeats it has to see by the
   * content whether it was executed.
   *
   * @param version what {@link #readFact} said; 0 for no text
   * @param content as {@link Fact} describes it
   * @param keep how long the store keeps it; from 1 ms to ten years. A store without a clock of its
   *     own judges that by the hosts' time of day, so a host whose clock is ahead of the writer's
   *     forgets it earlier by the difference
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
   * Why this store keeps no texts, and what to take instead: what {@link #readFact} and {@link
   * #replaceFact} fail with unless they are overridden.
   */
  @Beta
  default UnsupportedByStoreException factsRefusal() {
    return new UnsupportedByStoreException(
        "Store '%s' keeps nothing but locks (FACTS). Take one that keeps more: %s."
            .formatted(profile().display(), StoreProfile.FULL_STORES));
  }

  /**
   * Removes what dead processes and idle locks left behind: at most {@code budget} sessions and
   * locks, and of each lock at most 64 holders.
   *
   * @return how many were removed
   */
  CompletionStage<Integer> sweep(int budget);

  /**
   * Whether this process is to {@link #sweep} now. Each client that has asked for a lock asks this
   * about once a minute. Where a sweep means a walk over all that is there, one process does it for
   * all: the process that gets true should sweep. The default has every process do it.
   */
  default CompletionStage<Boolean> claimSweep() {
    return CompletableFuture.completedFuture(true);
  }

  /**
   * Looks at the server's own settings, as far as they change what its locks guarantee. Changes
   * nothing, and shows no secret; what may not be read is {@link StoreReport.Grade#UNKNOWN}. The
   * default knows nothing.
   */
  @Beta
  default CompletionStage<StoreReport> examine() {
    return CompletableFuture.completedFuture(StoreReport.about("").build());
  }

  /**
   * Called by a thread that has asked for something and is about to park until it is answered.
   * Where answers are faster than the waking of a thread, a store may let it ask for and fetch its
   * answer itself; most do nothing. Never called on a virtual thread. Returns whether or not the
   * answer has come; that the thread was interrupted is looked at afterwards.
   *
   * @param done whether the thread has no reason to wait any more; quick, and may be called often
   * @param longest how long the thread would wait for an answer; a store that might keep it longer
   *     must let it go at once, but for two milliseconds
   */
  default void helpWhileWaiting(BooleanSupplier done, Duration longest) {}

  /**
   * Closes connections and threads that the store made. Sessions should be closed before. Blocks
   * for seconds at most.
   */
  @Override
  void close();
}
