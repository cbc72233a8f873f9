package io.mortise.testkit;

import io.mortise.spi.AttemptId;
import io.mortise.support.table.TableRules;
import java.util.Map;

/** The rules of the lock table, each with one removed. */
public final class TableRuleMutants {
  private TableRuleMutants() {}

  /** Mutants that a short run reveals in an answer. */
  public static final Map<String, TableRules> ANSWERING =
      Map.of(
          "a dead session may acquire",
          new TableRules() {
            @Override
            protected boolean acquireNeedsLiveSession() {
              return false;
            }
          },
          "anybody ends any hold",
          new TableRules() {
            @Override
            protected boolean endsOnlyItsOwn() {
              return false;
            }

            @Override
            protected boolean endsHold(AttemptId holder, AttemptId asked) {
              return true;
            }
          },
          "the holder is not told that it is wanted",
          new TableRules() {
            @Override
            protected boolean tellsHolder() {
              return false;
            }
          },
          "whoever asks serves itself",
          new TableRules() {
            @Override
            protected boolean servesHead() {
              return false;
            }
          },
          "dead waiters are not skipped",
          new TableRules() {
            @Override
            protected boolean skipsDeadWaiters() {
              return false;
            }
          },
          "the last end is forgotten",
          new TableRules() {
            @Override
            protected boolean remembersEnd() {
              return false;
            }
          },
          "news of ended holds stays",
          new TableRules() {
            @Override
            protected boolean forgetsNotificationsOfEnded() {
              return false;
            }
          },
          "a token is given twice",
          new TableRules() {
            @Override
            protected long nextToken(long last, long nowMicros, long floor) {
              return Math.max(last, Math.max(nowMicros / 1_000_000 * 1_000_000, floor));
            }
          },
          "the floor is ignored",
          new TableRules() {
            @Override
            protected long nextToken(long last, long nowMicros, long floor) {
              return Math.max(last + 1, nowMicros);
            }
          },
          "any beat is accepted",
          new TableRules() {
            @Override
            protected boolean acceptsBeat(long stored, long previous, long next) {
              return true;
            }
          });

  /** Mutants that need passing time or a long queue. */
  public static final Map<String, TableRules> PATIENT =
      Map.of(
          "sessions never expire",
          new TableRules() {
            @Override
            protected boolean isExpired(long expiresAt, long nowMicros) {
              return false;
            }
          },
          "steps are not bounded",
          new TableRules() {
            @Override
            protected int steps() {
              return Integer.MAX_VALUE;
            }
          },
          "what has gone is told in its turn",
          new TableRules() {
            @Override
            protected boolean deliversEndedHoldsFirst() {
              return false;
            }
          },
          "tokens come from the clock alone",
          new TableRules() {
            @Override
            protected long nextToken(long last, long nowMicros, long floor) {
              return Math.max(nowMicros, floor);
            }
          });
}
