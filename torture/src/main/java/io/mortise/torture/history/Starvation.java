package io.mortise.torture.history;

import io.mortise.torture.history.Finding.Rule;
import java.util.BitSet;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Who lives and asks, gets something for as long as others do: a process that is stuck makes no
 * other promise look broken, but for delays. Counts in TTLs, in each of which a process held
 * something or did not. For one thread.
 */
final class Starvation {
  /** A session is lost and opened anew in a few. */
  private static final int MOST = 20;

  private final long ttl;
  private final Map<Integer, Life> lives = new TreeMap<>();

  private static final class Life {
    private final BitSet held = new BitSet();
    private long first = Long.MAX_VALUE;
    private long last = Long.MIN_VALUE;
  }

  Starvation(long ttlNanos) {
    this.ttl = ttlNanos;
  }

  /** Something that a worker of a process saw. */
  void take(Event event) {
    Life life = lives.computeIfAbsent(event.process(), process -> new Life());
    life.first = Math.min(life.first, event.nanos());
    life.last = Math.max(life.last, event.nanos());
    if (event.kind() == Kind.HOLDS) {
      life.held.set(place(event.nanos()));
    }
  }

  private int place(long nanos) {
    return Math.toIntExact(nanos / ttl);
  }

  void check(Trouble trouble, Map<Integer, Long> killed, Consumer<Finding> findings) {
    lives.forEach(
        (process, life) -> {
          long end = Math.min(life.last, killed.getOrDefault(process, Long.MAX_VALUE));
          BitSet others = new BitSet();
          lives.forEach(
              (other, its) -> {
                if (!other.equals(process)) {
                  others.or(its.held);
                }
              });
          int without = 0;
          for (int place = place(life.first) + 1; place < place(end); place++) {
            if (life.held.get(place)) {
              without = 0;
            } else if (others.get(place) && !wasDisturbed(trouble, process, place)) {
              without++;
            }
            if (without > MOST) {
              findings.accept(finding(process, place));
              return;
            }
          }
        });
  }

  /** Whether something was done to the process itself, or had its end a TTL before. */
  private boolean wasDisturbed(Trouble trouble, int process, int place) {
    return trouble.suffered(process, (place - 1) * ttl, (place + 1) * ttl);
  }

  private Finding finding(int process, int place) {
    return new Finding(
        Rule.PROGRESS,
        "",
        place * ttl,
        String.format(
            Locale.ROOT,
            "process %d had got nothing for more than %d TTLs in which others held",
            process,
            MOST));
  }
}
