package io.mortise.internal.client;

import io.mortise.LockName;
import io.mortise.admin.LocalWait;
import io.mortise.admin.LocalWait.LocalCaller;
import io.mortise.admin.LocalWaits;
import io.mortise.internal.engine.Engine;
import io.mortise.internal.engine.state.Waiter;
import io.mortise.internal.runtime.FailureText;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Describes the obstacle of a wait whose time is over, and the remedy. */
final class TimeoutText {
  private static final String WAIT_LONGER =
      "Raise the wait time, or shorten what is done under the lock.";

  private TimeoutText() {}

  /** One sentence or more. Uses only facts of this process: the time is over. */
  static String of(EngineClient client, Engine engine, Waiter waiter) {
    LocalWait wait = engine.localWait(waiter);
    boolean exclusive = waiter.mode().isExclusive();
    boolean isThread = wait.waiter().isThread();
    if (isThread && wait.holders().contains(wait.waiter())) {
      return (exclusive
              ? "This thread holds it itself, and waited for its own lease."
              : "This thread holds it itself, or a share of it, and may have waited for its own"
                  + " lease.")
          + " Use that lease, or asJavaLock() for a re-entrant lock.";
    }
    String holders = holders(wait, exclusive);
    String deadlock = isThread && !wait.holders().isEmpty() ? deadlock(client, wait) : "";
    if (!deadlock.isEmpty()) {
      return holders + deadlock;
    }
    boolean reader = waiter.mode().equals(Mode.SHARED);
    return holders
        + ". "
        + (reader ? "A reader also waits for writers that came first. " : "")
        + WAIT_LONGER;
  }

  /** A clause. Shares of a lock may have more holders than are known. */
  private static String holders(LocalWait wait, boolean exclusive) {
    List<String> known = new ArrayList<>();
    if (wait.holders().stream().anyMatch(LocalCaller::isThread)) {
      known.add(
          wait.holders().stream()
                  .map(holder -> FailureText.quoted(holder.toString()))
                  .collect(Collectors.joining(", "))
              + " of this process");
    } else if (!wait.holders().isEmpty()) {
      known.add("a lease that this process acquired asynchronously, so no thread is known");
    }
    String elsewhere = wait.heldElsewhere();
    if (elsewhere != null) {
      known.add(
          "another client (attempt " + AttemptId.parse(elsewhere) + "; mortise show tells which)");
    }
    if (known.isEmpty()) {
      return "No holder is known here; mortise show tells the state of the lock";
    }
    return "Held by "
        + String.join(", and by ", known)
        + (exclusive ? "" : ", as far as is known here");
  }

  /** A clause; empty if there is none. */
  private static String deadlock(EngineClient client, LocalWait wait) {
    // This wait is over, and missing among those of the client.
    List<LocalWait> waits = new ArrayList<>(client.localWaits().waits());
    waits.add(wait);
    return new LocalWaits(waits)
        .possibleDeadlocks().stream()
            .filter(cycle -> cycle.stream().anyMatch(each -> each.waiter().equals(wait.waiter())))
            .findFirst()
            .map(
                cycle ->
                    ", in a possible deadlock: "
                        + cycle.stream()
                            .map(
                                each ->
                                    FailureText.quoted(each.waiter().toString())
                                        + " waits for '"
                                        + LockName.of(each.name())
                                        + "'")
                            .collect(Collectors.joining(", "))
                        + ". Acquire several locks in one order everywhere, or by allOf.")
            .orElse("");
  }
}
