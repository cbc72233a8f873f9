package io.mortise.support.memory;

import io.mortise.LockName;
import io.mortise.spi.Fact;
import java.util.HashMap;
import java.util.Map;

/** The facts of the in-memory store. Not thread-safe. */
final class MemFacts {
  private final Map<LockName, KeptFact> facts = new HashMap<>();

  private record KeptFact(Fact fact, long until) {}

  Fact read(LockName name, long now) {
    KeptFact kept = facts.get(name);
    return kept == null || kept.until() <= now ? Fact.NONE : kept.fact();
  }

  /** See {@link io.mortise.spi.LockStore#replaceFact}. */
  long replace(LockName name, long version, String content, long keepMicros, long now) {
    if (read(name, now).version() != version) {
      return 0;
    }
    long next = Math.max(version + 1, now);
    facts.put(name, new KeptFact(new Fact(next, content), now + keepMicros));
    return next;
  }

  /** Removes expired facts; returns their number. */
  int sweep(long now) {
    int before = facts.size();
    facts.values().removeIf(kept -> kept.until() <= now);
    return before - facts.size();
  }
}
