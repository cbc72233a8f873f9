package io.mortise.quorum;

import io.mortise.LockException;
import io.mortise.StoreUnavailableException;
import io.mortise.internal.runtime.DaemonThreads;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the members, all at the same time; unreachable ones are retried as long as the quorum is
 * open.
 */
final class QuorumConnector {
  private static final Logger log = LoggerFactory.getLogger(QuorumConnector.class);
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private QuorumConnector() {}

  static QuorumLockStore connect(
      List<StoreUrl> urls,
      Function<StoreUrl, LockStore> opener,
      QuorumOptions options,
      Ticker ticker) {
    Executor threads = threads();
    List<CompletableFuture<LockStore>> opening =
        urls.stream()
            .map(url -> CompletableFuture.supplyAsync(() -> opener.apply(url), threads))
            .toList();
    List<Member> members = new ArrayList<>();
    List<LockStore> opened = new ArrayList<>();
    RuntimeException unfit = null;
    LockException down = null;
    for (int i = 0; i < urls.size(); i++) {
      LockStore store = null;
      try {
        store = opening.get(i).join();
        opened.add(store);
      } catch (CompletionException e) {
        if (e.getCause() instanceof StoreUnavailableException unavailable) {
          down = collect(down, unavailable);
        } else if (e.getCause() instanceof RuntimeException other) {
          unfit = unfit == null ? other : unfit;
        } else {
          unfit = e;
        }
      }
      Member member = new Member(i, urls.get(i).toString(), null);
      if (store != null) {
        member.opened(store, ticker.nanos());
      }
      members.add(member);
    }
    try {
      if (unfit != null) {
        throw unfit;
      }
      if (opened.size() < QuorumRules.ALL.majority(urls.size())) {
        throw QuorumErrors.unavailable(
            "Only %s of %s members can be reached. A majority is needed."
                .formatted(opened.size(), urls.size()),
            down);
      }
      QuorumLockStore quorum =
          new QuorumLockStore(members, options, opened, QuorumRules.ALL, ticker);
      for (Member member : members) {
        if (member.store() == null) {
          log.warn("Member {} cannot be reached; its vote is missing (store={}).", member, quorum);
          openLater(quorum, member, () -> opener.apply(urls.get(member.index)), threads);
        }
      }
      return quorum;
    } catch (RuntimeException e) {
      opened.forEach(LockStore::close);
      throw e;
    }
  }

  /**
   * Opening blocks, so each member has a thread for it. The caller's context class loader may know
   * the store of a member.
   */
  private static Executor threads() {
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    return task -> {
      Thread thread = DaemonThreads.create("mortise-quorum-opening", task);
      thread.setContextClassLoader(loader);
      thread.start();
    };
  }

  private static LockException collect(@Nullable LockException first, LockException next) {
    if (first == null) {
      return next;
    }
    first.addSuppressed(next);
    return first;
  }

  private static void openLater(
      QuorumLockStore quorum, Member member, Supplier<LockStore> opener, Executor threads) {
    var unused =
        quorum.later(
            PAUSE.toNanos(),
            () ->
                threads.execute(
                    () -> {
                      if (quorum.isClosed()) {
                        return;
                      }
                      try {
                        quorum.join(member, opener.get());
                        log.info("Member {} is there now (store={}).", member, quorum);
                      } catch (RuntimeException | Error e) {
                        log.debug("Member {} cannot be opened (store={}).", member, quorum, e);
                        openLater(quorum, member, opener, threads);
                      }
                    }));
  }
}
