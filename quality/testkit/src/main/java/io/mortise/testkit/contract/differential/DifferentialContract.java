package io.mortise.testkit.contract.differential;

import io.mortise.LockName;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.Seed;
import io.mortise.testkit.StoreUnderTest;
import io.mortise.testkit.contract.store.LockStoreContract;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A store and its {@link StoreUnderTest#reference()} are driven by the same random commands and
 * must give the same answers. A failing run is shortened and printed as a list, with the property
 * that repeats it.
 *
 * <p>{@code -Dmortise.seed=…} repeats a run, {@code -Dmortise.seed=random} draws new ones (see
 * {@link Seed}); {@code -Dmortise.diff.steps=…} sets the number of commands in a run, 400 by
 * default; {@code -Dmortise.diff.runs=…} the number of runs, 5 by default; {@code
 * -Dmortise.diff.shrinking=…} the seconds for shortening a failing run, 40 by default.
 *
 * <p>Where {@linkplain StoreUnderTest#isTimeByHand time moves by hand}, sessions and times end in a
 * run too. Elsewhere sessions end by a close only, and times are minutes: {@link LockStoreContract}
 * tests ends by a clock.
 */
public abstract class DifferentialContract {
  private static final int SHRINKING_SECONDS = 40;

  private static final int RUNS = 5;

  private final Supplier<? extends StoreUnderTest> stores;
  private final int runs;

  /** For the store's own test; each supplied store is opened once, on its own namespace. */
  protected DifferentialContract(Supplier<? extends StoreUnderTest> stores) {
    this(stores, RUNS);
  }

  /**
   * For a variant of a store that has all runs itself: this one has {@code runs}, unless the
   * property sets the number.
   */
  protected DifferentialContract(Supplier<? extends StoreUnderTest> stores, int runs) {
    this.stores = stores;
    this.runs = runs;
  }

  @Test
  @Timeout(600)
  void givenTheSameRandomCommands_thenTheStoreAnswersAsTheReferenceDoes() {
    int steps = Integer.getInteger("mortise.diff.steps", 400);
    int times = Seed.isGiven() ? 1 : Integer.getInteger("mortise.diff.runs", runs);
    for (int run = 1; run <= times; run++) {
      Seed seed = Seed.draw(run);
      System.out.println(getClass().getSimpleName() + " runs with " + seed);
      check(seed, steps);
    }
  }

  /**
   * Runs one seed.
   *
   * @throws AssertionError if an answer of the store differs from the reference's
   */
  protected final void check(Seed seed, int steps) {
    List<StoreCommand> storeCommands = draw(seed, steps);
    Mismatch first = run(storeCommands);
    if (first == null) {
      return;
    }
    List<StoreCommand> shortest = new ArrayList<>(storeCommands.subList(0, first.step() + 1));
    int shrinking = Integer.getInteger("mortise.diff.shrinking", SHRINKING_SECONDS);
    long end = System.nanoTime() + Duration.ofSeconds(shrinking).toNanos();
    Mismatch last = first;
    for (int chunk = Math.max(1, shortest.size() / 2); chunk > 0; chunk /= 2) {
      for (int from = shortest.size() - chunk;
          from >= 0 && System.nanoTime() < end;
          from -= chunk) {
        List<StoreCommand> fewer = new ArrayList<>(shortest);
        fewer.subList(from, Math.min(fewer.size(), from + chunk)).clear();
        Mismatch still = run(fewer);
        if (still != null) {
          shortest = new ArrayList<>(fewer.subList(0, still.step() + 1));
          last = still;
          from = Math.min(from, shortest.size());
        }
      }
    }
    throw new AssertionError(message(seed, steps, shortest, last));
  }

  private List<StoreCommand> draw(Seed seed, int steps) {
    try (StoreUnderTest under = stores.get()) {
      return CommandGenerator.draw(seed, steps, under);
    }
  }

  private static String message(
      Seed seed, int steps, List<StoreCommand> storeCommands, Mismatch mismatch) {
    StringBuilder text = new StringBuilder();
    text.append("The store answers otherwise than the reference. Repeat with ")
        .append(seed)
        .append(" -Dmortise.diff.steps=")
        .append(steps)
        .append("\nShortest run found:\n");
    for (int i = 0; i < storeCommands.size(); i++) {
      text.append(
          String.format(
              Locale.ROOT,
              "  %3d  %s%n         %s%n",
              i,
              storeCommands.get(i),
              mismatch.answers().get(i)));
    }
    text.append("  got  ").append(mismatch.actual()).append('\n');
    mismatch
        .differences()
        .forEach(difference -> text.append("  - ").append(difference).append('\n'));
    return text.toString();
  }

  /** The first difference; the answers are those of the reference. */
  private record Mismatch(
      int step, List<Object> answers, Object actual, List<String> differences) {}

  private @Nullable Mismatch run(List<StoreCommand> storeCommands) {
    try (StoreUnderTest under = stores.get();
        LockStore store = under.open();
        LockStore reference = under.reference()) {
      CommandRunner expected = new CommandRunner(reference, under);
      CommandRunner actual = new CommandRunner(store, under);
      try {
        return run(storeCommands, under, reference, expected, actual, new ReplyComparison(under));
      } finally {
        actual.close();
      }
    }
  }

  private static @Nullable Mismatch run(
      List<StoreCommand> storeCommands,
      StoreUnderTest under,
      LockStore reference,
      CommandRunner expected,
      CommandRunner actual,
      ReplyComparison comparison) {
    List<Object> answers = new ArrayList<>();
    for (int i = 0; i < storeCommands.size(); i++) {
      StoreCommand storeCommand = storeCommands.get(i);
      if (storeCommand instanceof StoreCommand.AdvanceTime advanceTime) {
        under.pass(advanceTime.time());
        answers.add("passed");
        continue;
      }
      Object left = expected.run(storeCommand);
      answers.add(left);
      Object right = actual.run(storeCommand);
      List<String> differences = differences(storeCommand, reference, comparison, left, right);
      differences.addAll(under.faults());
      if (!differences.isEmpty()) {
        return new Mismatch(i, answers, right, differences);
      }
    }
    return null;
  }

  private static List<String> differences(
      StoreCommand storeCommand,
      LockStore reference,
      ReplyComparison comparison,
      Object expected,
      Object actual) {
    List<String> differences = new ArrayList<>();
    if (storeCommand instanceof StoreCommand.CommandBatch commandBatch
        && expected instanceof List<?> left
        && actual instanceof List<?> right) {
      for (int i = 0; i < left.size(); i++) {
        LockName name = commandBatch.parts().get(i).name();
        differences.addAll(
            comparison.compare(name, view(reference, name), left.get(i), right.get(i)));
      }
    } else {
      LockName name = name(storeCommand);
      LockInfo view = name == null ? null : view(reference, name);
      differences.addAll(comparison.compare(name, view, expected, actual));
    }
    return differences;
  }

  private static @Nullable LockName name(StoreCommand storeCommand) {
    if (storeCommand instanceof StoreCommand.LockCommand lockCommand) {
      return lockCommand.name();
    }
    return storeCommand instanceof StoreCommand.EvictStep evict ? evict.name() : null;
  }

  private static @Nullable LockInfo view(LockStore store, LockName name) {
    List<LockInfo> views = BoundedWait.join(store.inspect(LockQuery.of(name.value()))).items();
    return views.isEmpty() ? null : views.get(0);
  }
}
