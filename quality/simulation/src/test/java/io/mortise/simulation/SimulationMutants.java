package io.mortise.simulation;

import io.mortise.internal.runtime.EngineRules;
import io.mortise.simulation.Scenario.RuleSet;
import io.mortise.simulation.Scenario.TransportFlaw;
import io.mortise.spi.AttemptId;
import io.mortise.support.table.TableRules;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.IntFunction;

/** Mutants, each with one rule removed or weakened. */
final class SimulationMutants {
  /**
   * A mutant.
   *
   * @param caughtBy the properties that it breaks
   * @param knownSeed a seed known to reveal it, run first where such seeds are rare
   */
  record Mutant(String name, RuleSet rules, List<String> caughtBy, long knownSeed) {
    Mutant(String name, RuleSet rules, List<String> caughtBy) {
      this(name, rules, caughtBy, 0);
    }

    Mutant known(long seed) {
      return new Mutant(name, rules, caughtBy, seed);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private SimulationMutants() {}

  private static Mutant table(String name, IntFunction<TableRules> rules, String... caughtBy) {
    return new Mutant(name, new RuleSet(rules, EngineRules.ALL, Set.of()), List.of(caughtBy));
  }

  private static Mutant engine(String name, EngineRules rules, String... caughtBy) {
    return new Mutant(name, new RuleSet(SimTableRules::new, rules, Set.of()), List.of(caughtBy));
  }

  private static Mutant wire(String name, TransportFlaw wire, String... caughtBy) {
    return new Mutant(
        name, new RuleSet(SimTableRules::new, EngineRules.ALL, Set.of(wire)), List.of(caughtBy));
  }

  static List<Mutant> all() {
    return List.of(
        engine(
                "an idle grant is kept although another process wants it",
                new EngineRules() {
                  @Override
                  public boolean givesBackIdleWhenCalled() {
                    return false;
                  }
                },
                "bounded wait")
            .known(7547),
        engine(
                "a wanted grant is kept idle",
                new EngineRules() {
                  @Override
                  public boolean keepsOnlyUnwanted() {
                    return false;
                  }
                },
                "bounded wait")
            .known(7717),
        engine(
                "an idle grant is taken without a look at its session",
                new EngineRules() {
                  @Override
                  public boolean takesIdleOfValidSession() {
                    return false;
                  }
                },
                "bond")
            .known(17628),
        table(
            "a late acquire of an ended session is granted",
            steps ->
                new SimTableRules(steps) {
                  @Override
                  protected boolean acquireNeedsLiveSession() {
                    return false;
                  }
                },
            "grant to the dead"),
        table(
            "a release ends whoever holds",
            steps ->
                new SimTableRules(steps) {
                  @Override
                  protected boolean endsOnlyItsOwn() {
                    return false;
                  }

                  @Override
                  protected boolean endsHold(AttemptId holder, AttemptId asked) {
                    return true;
                  }
                },
            "exclusion"),
        table(
            "a release ends any hold of its session",
            steps ->
                new SimTableRules(steps) {
                  @Override
                  protected boolean endsOnlyItsOwn() {
                    return false;
                  }

                  @Override
                  protected boolean endsHold(AttemptId holder, AttemptId asked) {
                    return holder.session().equals(asked.session());
                  }
                },
            "exclusion"),
        table(
            "a holder is not told that it is wanted",
            steps ->
                new SimTableRules(steps) {
                  @Override
                  protected boolean tellsHolder() {
                    return false;
                  }
                },
            "leak"),
        table(
            "who asks is served before the queue's head",
            steps ->
                new SimTableRules(steps) {
                  @Override
                  protected boolean servesHead() {
                    return false;
                  }
                },
            "first come, first served"),
        table(
            "a dead waiter is handed the lock",
            steps ->
                new SimTableRules(steps) {
                  @Override
                  protected boolean skipsDeadWaiters() {
                    return false;
                  }
                },
            "grant to the dead"),
        table(
            "a waiter without a connection is handed the lock",
            steps ->
                new SimTableRules(steps) {
                  @Override
                  protected boolean skipsDisconnected() {
                    return false;
                  }
                },
            "grant to the disconnected"),
        table(
            "an end is not remembered",
            steps ->
                new SimTableRules(steps) {
                  @Override
                  protected boolean remembersEnd() {
                    return false;
                  }
                },
            "repeated release"),
        table(
            "an idle record is forgotten at once",
            steps ->
                new SimTableRules(steps) {
                  @Override
                  protected Duration retention() {
                    return Duration.ZERO;
                  }
                },
            "token order"),
        table("a step serves any number", steps -> new SimTableRules(1_000), "bounded steps"),
        table(
            "tokens count without a clock",
            steps ->
                new SimTableRules(steps) {
                  @Override
                  protected long nextToken(long last, long nowMicros, long floor) {
                    return Math.max(last + 1, floor);
                  }
                },
            "token order"),
        table(
            "tokens are the clock alone",
            steps ->
                new SimTableRules(steps) {
                  @Override
                  protected long nextToken(long last, long nowMicros, long floor) {
                    return Math.max(nowMicros, floor);
                  }
                },
            "token order"),
        table(
            "a token repeats the last",
            steps ->
                new SimTableRules(steps) {
                  @Override
                  protected long nextToken(long last, long nowMicros, long floor) {
                    return Math.max(Math.max(last, nowMicros), floor);
                  }
                },
            "token order"),
        table(
            "a token is rounded to a float",
            steps ->
                new SimTableRules(steps) {
                  @Override
                  protected long nextToken(long last, long nowMicros, long floor) {
                    return (long) (float) super.nextToken(last, nowMicros, floor);
                  }
                },
            "token order"),
        table(
            "a session never expires",
            steps ->
                new SimTableRules(steps) {
                  @Override
                  protected boolean isExpired(long expiresAt, long nowMicros) {
                    return false;
                  }
                },
            "leak"),
        table(
            "a session expires early",
            steps ->
                new SimTableRules(steps) {
                  @Override
                  protected boolean isExpired(long expiresAt, long nowMicros) {
                    return expiresAt - 100_000 <= nowMicros;
                  }
                },
            "exclusion"),
        table(
            "a clone may renew",
            steps ->
                new SimTableRules(steps) {
                  @Override
                  protected boolean acceptsBeat(long stored, long previous, long next) {
                    return true;
                  }
                },
            "clone"),
        wire("an answer hides that work is left", TransportFlaw.HIDES_MORE, "bounded wait"),
        wire("a straggler arrives at any time", TransportFlaw.FORGETS_MAX_IN_FLIGHT, "leak"),
        engine(
            "validity counts from the answer",
            new EngineRules() {
              @Override
              public long validFrom(long sentAt, long receivedAt) {
                return receivedAt;
              }
            },
            "bond",
            "exclusion"),
        engine(
            "no margin for drift",
            new EngineRules() {
              @Override
              public long safetyMargin(long nanos) {
                return 0;
              }
            },
            "bond",
            "exclusion"),
        engine(
            "leftovers live on",
            new EngineRules() {
              @Override
              public boolean endsUnknownAttempts() {
                return false;
              }
            },
            "leak"),
        engine(
            "an attempt in doubt is ended once",
            new EngineRules() {
              @Override
              public boolean endsDoubtfulAgain() {
                return false;
              }
            },
            "leak"),
        engine(
            "a wait relies on pushes",
            new EngineRules() {
              @Override
              public boolean repeatsAcquire() {
                return false;
              }
            },
            "bounded wait"),
        engine(
            "a failed renewal is the last",
            new EngineRules() {
              @Override
              public boolean retriesRenewal() {
                return false;
              }
            },
            "needless loss"),
        engine(
            "a loss waits for the store to tell",
            new EngineRules() {
              @Override
              public boolean losesAtDeadline() {
                return false;
              }
            },
            "loss untold"),
        engine(
            "a contender judges by itself",
            new EngineRules() {
              @Override
              public boolean letsStoreJudge() {
                return false;
              }
            },
            "exclusion"),
        engine(
            "local holders share a token",
            new EngineRules() {
              @Override
              public boolean takesFreshToken() {
                return false;
              }
            },
            "checking resource",
            "token order"),
        engine(
                "a shorter at-most time counts from its answer",
                new EngineRules() {
                  @Override
                  public boolean expectsStragglers() {
                    return false;
                  }
                },
                "exclusion")
            .known(20430),
        engine(
            "a grant is believed however late it comes",
            new EngineRules() {
              @Override
              public boolean checksGrant() {
                return false;
              }
            },
            "stale grant"),
        engine(
            "a grant is believed while the session is short",
            new EngineRules() {
              @Override
              public boolean restoresTtlBeforeGrant() {
                return false;
              }
            },
            "short lease"),
        engine(
            "a store that may have forgotten is believed",
            new EngineRules() {
              @Override
              public boolean revalidatesAfterRestart() {
                return false;
              }
            },
            "forgotten hold"),
        engine(
            "a wait that ends is not ended in the store",
            new EngineRules() {
              @Override
              public boolean cancelsInStore() {
                return false;
              }
            },
            "bounded wait",
            "leak"),
        engine(
            "local hand-off goes on while others wait",
            new EngineRules() {
              @Override
              public boolean boundsPasses() {
                return false;
              }
            },
            "bounded passes"));
  }
}
