package io.mortise.verification.mutant;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.CancellationToken;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherExecutionRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs tests of a store with a changed script, in a separate class loader, until one fails. For one
 * thread.
 */
public final class MutationTestRunner {
  /** The tag of tests that disturb the server. */
  public static final String ALONE = "alone";

  /** High, as most tests wait for time to pass. */
  private static final int AT_ONCE = 12;

  private final List<URL> places;
  private final ClassLoader parent;
  private final String prefix;
  private final Set<String> shared;

  /**
   * The outcome of a mutant.
   *
   * @param killer the first failed test, or another reason for the end; null if the mutant survived
   * @param hung whether it timed out
   * @param tests the number of tests that were run
   */
  public record Outcome(@Nullable String killer, boolean hung, int tests, Duration took) {
    /** No test noticed the change. */
    public boolean survived() {
      return killer == null;
    }
  }

  /**
   * A stage of tests. Cheap stages run first.
   *
   * @param tests names of classes
   * @param atOnce the number of concurrent tests; those tagged {@link #ALONE} run alone afterwards
   */
  public record TestStage(List<String> tests, int atOnce) {
    /** A stage of independent tests, such as a store's contract. */
    public static TestStage together(String... tests) {
      return new TestStage(List.of(tests), AT_ONCE);
    }

    /** A stage of sequential tests, in this order. */
    public static TestStage oneByOne(String... tests) {
      return new TestStage(List.of(tests), 1);
    }
  }

  /**
   * A hunt in one module.
   *
   * @param one a class of its tests, whose loader loads all other modules
   * @param main a class of its main code
   * @param shared classes that all mutants share, such as those that keep servers
   */
  public MutationTestRunner(Class<?> one, Class<?> main, Set<String> shared) {
    this.places =
        List.of(
            one.getProtectionDomain().getCodeSource().getLocation(),
            main.getProtectionDomain().getCodeSource().getLocation());
    this.parent = one.getClassLoader();
    this.prefix = main.getPackageName() + ".";
    this.shared = Set.copyOf(shared);
  }

  /**
   * Runs the tests on a mutant. Blocks until one has failed, all have passed, or the time is over.
   * A test that failed beside others has to fail alone too, and to pass on the original: a busy
   * machine must kill no mutant.
   *
   * @param mutant null for the original, to check that its tests pass
   */
  public Outcome run(@Nullable ScriptMutant mutant, List<TestStage> testStages, Duration limit) {
    long began = System.nanoTime();
    try (MutantClassLoader loader = loader(mutant);
        MutantClassLoader unchanged = loader(null)) {
      MutantRun mutantRun = new MutantRun(loader, mutant == null ? null : unchanged);
      Thread runner = new Thread(() -> execute(testStages, mutantRun), "mutant");
      runner.setDaemon(true);
      runner.setContextClassLoader(loader);
      runner.start();
      boolean hung = !mutantRun.ended.await(limit.toNanos(), TimeUnit.NANOSECONDS);
      if (hung) {
        mutantRun.stop("took more than " + limit.toSeconds() + " s");
        runner.interrupt();
      }
      runner.join(20_000);
      return new Outcome(
          mutantRun.killer.get(),
          hung,
          mutantRun.count.get(),
          Duration.ofNanos(System.nanoTime() - began));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while hunting.", e);
    }
  }

  private MutantClassLoader loader(@Nullable ScriptMutant mutant) {
    return new MutantClassLoader(places, parent, prefix, shared, mutant);
  }

  private static void execute(List<TestStage> testStages, MutantRun mutantRun) {
    try {
      for (TestStage testStage : testStages) {
        List<DiscoverySelector> tests = new ArrayList<>();
        for (String test : testStage.tests()) {
          tests.add(DiscoverySelectors.selectClass(mutantRun.loader.loadClass(test)));
        }
        if (testStage.atOnce() == 1) {
          execute(tests, 1, List.of(), mutantRun);
        } else {
          execute(tests, testStage.atOnce(), List.of(TagFilter.excludeTags(ALONE)), mutantRun);
          execute(tests, 1, List.of(TagFilter.includeTags(ALONE)), mutantRun);
        }
      }
      if (mutantRun.count.get() == 0) {
        mutantRun.stop("no test was run");
      }
    } catch (ClassNotFoundException | RuntimeException | LinkageError e) {
      mutantRun.stop(e.toString());
    } finally {
      mutantRun.ended.countDown();
    }
  }

  private static void execute(
      List<DiscoverySelector> tests,
      int atOnce,
      List<PostDiscoveryFilter> filters,
      MutantRun mutantRun) {
    while (mutantRun.killer.get() == null) {
      FirstFailureListener firstFailureListener = new FirstFailureListener(mutantRun);
      execute(tests, atOnce, filters, firstFailureListener);
      TestIdentifier test = firstFailureListener.first.get();
      if (test == null) {
        return;
      }
      if (atOnce == 1
          || (fails(test, mutantRun.loader, mutantRun)
              && !fails(test, mutantRun.unchanged, mutantRun))) {
        mutantRun.stop(firstFailureListener.why);
      } else {
        System.out.println("failed by chance: " + firstFailureListener.why);
      }
    }
  }

  private static boolean fails(
      TestIdentifier test, @Nullable MutantClassLoader with, MutantRun mutantRun) {
    if (with == null) {
      return false;
    }
    Thread.currentThread().setContextClassLoader(with);
    FirstFailureListener alone = new FirstFailureListener(mutantRun);
    execute(
        List.of(DiscoverySelectors.selectUniqueId(test.getUniqueIdObject())), 1, List.of(), alone);
    Thread.currentThread().setContextClassLoader(mutantRun.loader);
    return alone.first.get() != null;
  }

  private static void execute(
      List<DiscoverySelector> tests,
      int atOnce,
      List<PostDiscoveryFilter> filters,
      FirstFailureListener firstFailureListener) {
    LauncherDiscoveryRequestBuilder request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(tests)
            .configurationParameter("junit.jupiter.execution.timeout.default", "20 s");
    if (atOnce > 1) {
      request
          .configurationParameter("junit.jupiter.execution.parallel.enabled", "true")
          .configurationParameter("junit.jupiter.execution.parallel.mode.default", "concurrent")
          .configurationParameter("junit.jupiter.execution.parallel.config.strategy", "fixed")
          .configurationParameter(
              "junit.jupiter.execution.parallel.config.fixed.parallelism",
              Integer.toString(atOnce));
    }
    filters.forEach(request::filters);
    Launcher launcher = LauncherFactory.create();
    LauncherDiscoveryRequest discovery = request.build();
    launcher.execute(
        LauncherExecutionRequestBuilder.request(discovery)
            .cancellationToken(firstFailureListener.token)
            .listeners(firstFailureListener)
            .build());
  }

  /** A run on a mutant. */
  private static final class MutantRun {
    final MutantClassLoader loader;
    final @Nullable MutantClassLoader unchanged;
    final CountDownLatch ended = new CountDownLatch(1);
    final AtomicReference<@Nullable String> killer = new AtomicReference<>();
    final AtomicInteger count = new AtomicInteger();
    final AtomicReference<@Nullable FirstFailureListener> running = new AtomicReference<>();

    MutantRun(MutantClassLoader loader, @Nullable MutantClassLoader unchanged) {
      this.loader = loader;
      this.unchanged = unchanged;
    }

    void stop(String why) {
      killer.compareAndSet(null, why);
      FirstFailureListener now = running.get();
      if (now != null) {
        now.token.cancel();
      }
    }
  }

  /** Ends a run with its first failure. */
  private static final class FirstFailureListener implements TestExecutionListener {
    final CancellationToken token = CancellationToken.create();
    final AtomicReference<@Nullable TestIdentifier> first = new AtomicReference<>();
    final AtomicBoolean any = new AtomicBoolean();
    private final MutantRun mutantRun;
    volatile String why = "";

    FirstFailureListener(MutantRun mutantRun) {
      this.mutantRun = mutantRun;
      mutantRun.running.set(this);
      if (mutantRun.killer.get() != null) {
        token.cancel();
      }
    }

    private static String firstLine(Throwable why) {
      return why.toString().lines().findFirst().orElse("");
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
      if (test.isTest()) {
        mutantRun.count.incrementAndGet();
      }
      if (result.getStatus() == TestExecutionResult.Status.FAILED
          && any.compareAndSet(false, true)) {
        why =
            test.getDisplayName() + result.getThrowable().map(e -> ": " + firstLine(e)).orElse("");
        first.set(test);
        token.cancel();
      }
    }
  }
}
