package io.mortise.testkit.mutant;

import io.mortise.Beta;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.CancellationToken;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherExecutionRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs tests of a store whose script was changed, in a class loader of their own, until one fails.
 * For one thread.
 */
@Beta
public final class MutantHunt {
  private final List<URL> places;
  private final ClassLoader parent;
  private final String prefix;
  private final Set<String> shared;

  /**
   * What came of a mutant.
   *
   * @param killer the first test that failed, or what ended the run; null if the mutant survived
   * @param tests how many were run
   */
  public record Outcome(@Nullable String killer, int tests, Duration took) {
    /** No test noticed the change. */
    public boolean survived() {
      return killer == null;
    }
  }

  /**
   * A hunt in one module.
   *
   * @param one a class of its tests, with whose loader all is loaded that is not the module's own
   * @param main a main class of it
   * @param shared classes that all mutants share, such as those that keep servers
   */
  public MutantHunt(Class<?> one, Class<?> main, Set<String> shared) {
    this.places =
        List.of(
            one.getProtectionDomain().getCodeSource().getLocation(),
            main.getProtectionDomain().getCodeSource().getLocation());
    this.parent = one.getClassLoader();
    this.prefix = main.getPackageName() + ".";
    this.shared = Set.copyOf(shared);
  }

  /**
   * Runs the tests on a mutant; blocks until one has failed, all have passed, or the time is over.
   *
   * @param mutant null for the module as it is, to see that its tests pass
   * @param tests names of classes
   */
  public Outcome run(@Nullable ScriptMutant mutant, List<String> tests, Duration limit) {
    long began = System.nanoTime();
    try (MutantLoader loader = new MutantLoader(places, parent, prefix, shared, mutant)) {
      Watch watch = new Watch();
      Thread runner = new Thread(() -> execute(loader, tests, watch), "mutant");
      runner.setDaemon(true);
      runner.setContextClassLoader(loader);
      runner.start();
      if (!watch.ended.await(limit.toNanos(), TimeUnit.NANOSECONDS)) {
        watch.fail("took more than " + limit.toSeconds() + " s");
        runner.interrupt();
      }
      runner.join(20_000);
      return new Outcome(
          watch.killer.get(), watch.count.get(), Duration.ofNanos(System.nanoTime() - began));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while hunting.", e);
    }
  }

  private static void execute(MutantLoader loader, List<String> tests, Watch watch) {
    try {
      LauncherDiscoveryRequestBuilder request =
          LauncherDiscoveryRequestBuilder.request()
              .configurationParameter("junit.jupiter.execution.timeout.default", "20 s");
      for (String test : tests) {
        request.selectors(DiscoverySelectors.selectClass(loader.loadClass(test)));
      }
      Launcher launcher = LauncherFactory.create();
      LauncherDiscoveryRequest discovery = request.build();
      launcher.execute(
          LauncherExecutionRequestBuilder.request(discovery)
              .cancellationToken(watch.token)
              .listeners(watch)
              .build());
      if (watch.count.get() == 0) {
        watch.fail("no test was run");
      }
    } catch (ClassNotFoundException | RuntimeException | LinkageError e) {
      watch.fail(e.toString());
    } finally {
      watch.ended.countDown();
    }
  }

  /** Ends the run with the first failure. */
  private static final class Watch implements TestExecutionListener {
    final CancellationToken token = CancellationToken.create();
    final CountDownLatch ended = new CountDownLatch(1);
    final AtomicReference<@Nullable String> killer = new AtomicReference<>();
    final AtomicInteger count = new AtomicInteger();

    void fail(String why) {
      killer.compareAndSet(null, why);
      token.cancel();
    }

    private static String first(Throwable why) {
      return why.toString().lines().findFirst().orElse("");
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
      if (test.isTest()) {
        count.incrementAndGet();
      }
      if (result.getStatus() == TestExecutionResult.Status.FAILED) {
        fail(
            test.getDisplayName() + result.getThrowable().map(why -> ": " + first(why)).orElse(""));
      }
    }
  }
}
