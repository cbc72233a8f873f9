package io.mortise.zookeeper;

import io.mortise.LockName;
import io.mortise.zookeeper.internal.node.AtLeastMark;
import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.node.NodeLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.apache.zookeeper.ZooKeeper;

/**
 * Locks that at-least times keep shut, as operators and sweeps see them. A sweep counts the times
 * of locks that no process wants, and opens those. Thread-safe.
 */
final class ShutLocks {
  private final ZooKeeperLockStore store;

  ShutLocks(ZooKeeperLockStore store) {
    this.store = store;
  }

  /**
   * How long at-least times keep a lock shut, as far as this process knows; zero if they do not.
   */
  Duration shutFor(LockQueue queue) {
    Duration longest = Duration.ZERO;
    for (AtLeastMark mark : queue.lastMarks()) {
      Duration left = store.atLeastLeft(mark);
      longest = queue.isShutBy(mark) && left.compareTo(longest) > 0 ? left : longest;
    }
    return longest;
  }

  /** As {@link io.mortise.spi.LockStore#reopen}. */
  CompletionStage<Boolean> reopen(LockName name) {
    String lock = store.layout().lock(name);
    return store
        .resources()
        .<Boolean>ask(
            (client, answer) -> {
              client.sync(lock, (rc, path, context) -> {}, null);
              list(
                  client,
                  lock,
                  answer,
                  queue -> {
                    boolean isShut = !shutFor(queue).isZero();
                    remove(
                        client, lock, shutBy(queue, mark -> true), () -> answer.complete(isShut));
                  });
            });
  }

  /** Opens some of the locks whose times are over. Returns their number. */
  CompletionStage<Integer> sweep(int budget) {
    String leasts = store.layout().leasts();
    return store
        .resources()
        .<Integer>ask(
            (client, answer) ->
                store
                    .resources()
                    .children(
                        client,
                        leasts,
                        answer,
                        attempts -> {
                          List<String> some = new ArrayList<>(attempts);
                          Collections.shuffle(some);
                          List<String> paths =
                              some.stream()
                                  .limit(budget)
                                  .map(attempt -> leasts + "/" + attempt)
                                  .toList();
                          sweep(client, paths, 0, answer);
                        }));
  }

  private void sweep(
      ZooKeeper client, List<String> names, int opened, CompletableFuture<Integer> answer) {
    if (names.isEmpty()) {
      answer.complete(opened);
      return;
    }
    String attempt = NodeLayout.last(names.get(0));
    List<String> rest = names.subList(1, names.size());
    client.getData(
        names.get(0),
        false,
        (rc, path, context, data, stat) -> {
          if (rc != 0) {
            sweep(client, rest, opened, answer);
            return;
          }
          String lock = store.layout().locks() + "/" + NodeData.text(data);
          list(
              client,
              lock,
              answer,
              queue -> {
                // All are counted from now on.
                List<AtLeastMark> over =
                    queue.lastMarks().stream()
                        .filter(mark -> store.atLeastLeft(mark).isZero())
                        .toList();
                List<AtLeastMark> removed = shutBy(queue, over::contains);
                if (queue.lastMarks().stream()
                    .noneMatch(mark -> mark.attempt().encoded().equals(attempt))) {
                  client.delete(path, -1, (code, gone, none) -> {}, null);
                }
                remove(
                    client,
                    lock,
                    removed,
                    () -> sweep(client, rest, opened + removed.size(), answer));
              });
        },
        null);
  }

  private void list(
      ZooKeeper client, String lock, CompletableFuture<?> answer, Consumer<LockQueue> then) {
    store
        .resources()
        .children(client, lock, answer, children -> then.accept(LockQueue.of(children, 1)));
  }

  /** The marks to remove so that those do not keep the lock shut. */
  private static List<AtLeastMark> shutBy(LockQueue queue, Predicate<AtLeastMark> chosen) {
    return queue.lastMarks().stream()
        .filter(mark -> queue.isShutBy(mark) && chosen.test(mark))
        .flatMap(mark -> queue.marks(mark.seq()).stream())
        .toList();
  }

  /** Removes marks, and the names of their attempts. */
  private void remove(ZooKeeper client, String lock, List<AtLeastMark> marks, Runnable then) {
    for (AtLeastMark mark : marks) {
      client.delete(lock + "/" + mark.name(), -1, (rc, path, context) -> {}, null);
      client.delete(store.layout().least(mark.attempt()), -1, (rc, path, context) -> {}, null);
    }
    client.sync(lock, (rc, path, context) -> then.run(), null);
  }
}
