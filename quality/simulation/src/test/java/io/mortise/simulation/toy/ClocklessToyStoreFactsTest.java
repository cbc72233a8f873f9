package io.mortise.simulation.toy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LockName;
import io.mortise.simulation.toy.ContendedDocuments.Loss;
import io.mortise.spi.Fact;
import io.mortise.spi.LockStore;
import io.mortise.support.document.DocumentStore;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.ManualTime;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Facts on a clockless server: they expire by the hosts' clocks, which may be wrong. */
class ClocklessToyStoreFactsTest {
  private static final LockName NAME = LockName.of("some fact");
  private static final Duration HOUR = Duration.ofHours(1);
  private static final Duration SHORT = Duration.ofSeconds(20);

  private final ManualTime time = new ManualTime();
  private final ClocklessToyDocuments server = new ClocklessToyDocuments();
  private final ExecutorService threads = Executors.newFixedThreadPool(2);
  private final AtomicReference<Loss> next = new AtomicReference<>(Loss.NOTHING);
  private final ContendedDocuments lossy =
      new ContendedDocuments(server, threads, key -> false, key -> next.getAndSet(Loss.NOTHING));
  private final Host writer = new Host(server);
  private final Host reader = new Host(server);

  @AfterEach
  void endThreads() {
    threads.shutdownNow();
  }

  /** A process on a host with a clock set by hand. */
  private final class Host {
    private final LockStore store;
    private Duration ahead = Duration.ZERO;

    Host(VersionedDocuments documents) {
      InstantSource wall =
          () -> Instant.parse("2026-01-01T00:00:00Z").plusNanos(time.nanos()).plus(ahead);
      store =
          DocumentStore.clockless(
              ClocklessToyStoreUnderTest.PROFILE, documents, documents, time, wall);
    }

    Fact read() {
      return BoundedWait.join(store.readFact(NAME));
    }

    long write(long version, String content, Duration keep) {
      return BoundedWait.join(store.replaceFact(NAME, version, content, keep));
    }

    long write(String content, Duration keep) {
      long version = write(0, content, keep);
      assertThat(version).isPositive();
      return version;
    }
  }

  private List<String> documents() {
    return BoundedWait.join(server.scan("fact/", "", 10));
  }

  // ---- Kept for more than half a minute: by the time of day ----

  @Test
  void givenLongFact_thenItExpiresByTheTimeOfDay_alsoForAProcessThatHasJustBegun() {
    long version = writer.write("x", HOUR);
    time.advance(HOUR.minusSeconds(1));
    assertThat(new Host(server).read()).isEqualTo(new Fact(version, "x"));
    time.advance(Duration.ofSeconds(1));
    assertThat(new Host(server).read()).isEqualTo(Fact.NONE);
    assertThat(reader.write(version, "late", HOUR)).isZero();
    assertThat(reader.write("anew", HOUR)).isGreaterThan(version);
  }

  @Test
  void givenClockThatIsSetAhead_whenByLessThanTheRest_thenTheFactStands_elseItIsForgottenEarly() {
    long version = writer.write("x", HOUR);
    reader.ahead = HOUR.minusMinutes(1);
    assertThat(reader.read().version()).isEqualTo(version);
    reader.ahead = HOUR;
    assertThat(reader.read()).isEqualTo(Fact.NONE);
    reader.ahead = Duration.ZERO;
    assertThat(reader.read().version()).as("the clock was set right").isEqualTo(version);
    assertThat(writer.read().version()).isEqualTo(version);
  }

  @Test
  void givenWriterWhoseClockIsBehind_thenOthersForgetEarly_andNoVersionComesBack() {
    long before = reader.write("earlier", HOUR);
    writer.ahead = HOUR.multipliedBy(-2);
    long version = writer.write(before, "x", HOUR);
    assertThat(version).isGreaterThan(before);
    assertThat(writer.read()).isEqualTo(new Fact(version, "x"));
    assertThat(reader.read()).isEqualTo(Fact.NONE);
    assertThat(reader.write("y", HOUR)).isGreaterThan(version);
  }

  @Test
  void givenWriterWhoseClockIsAhead_thenTheFactStandsLonger_andTheNextWriterSetsThatRight() {
    writer.ahead = Duration.ofDays(30_000);
    long version = writer.write("x", HOUR);
    time.advance(HOUR.multipliedBy(2));
    assertThat(reader.read().version()).isEqualTo(version);
    long second = reader.write(version, "y", HOUR);
    assertThat(second).isEqualTo(version + 1);
    time.advance(HOUR);
    assertThat(reader.read()).isEqualTo(Fact.NONE);
    assertThat(reader.write(0, "z", HOUR)).isEqualTo(second + 1);
  }

  // ---- Kept for half a minute at most: by observation ----

  @Test
  void givenShortFactThatAProcessHasSeenAppear_thenItsClockMayShowAnything() {
    assertThat(reader.read()).isEqualTo(Fact.NONE);
    long version = writer.write("x", SHORT);
    reader.ahead = HOUR;
    for (int refreshed = 0; refreshed < 100; refreshed++) {
      assertThat(reader.read().version()).isEqualTo(version);
      time.advance(Duration.ofSeconds(15));
      version = writer.write(version, "x", SHORT);
      assertThat(version).isPositive();
    }
    assertThat(reader.read().version()).isEqualTo(version);
    time.advance(SHORT.plusSeconds(1));
    assertThat(reader.read()).isEqualTo(Fact.NONE);
  }

  @Test
  void givenShortFact_whenItsWriterIsFarAhead_thenItExpiresAllTheSame() {
    writer.ahead = Duration.ofDays(30_000);
    long version = writer.write("x", SHORT);
    assertThat(reader.read().version()).isEqualTo(version);
    time.advance(SHORT.plusSeconds(1));
    assertThat(reader.read()).isEqualTo(Fact.NONE);
    assertThat(reader.write("y", SHORT)).isEqualTo(version + 1);
  }

  @Test
  void givenShortFact_thenItsWriterHasSeenItSinceItWrote_andForgetsItInTime() {
    writer.write("x", SHORT);
    time.advance(SHORT.plusSeconds(1));
    assertThat(writer.read()).isEqualTo(Fact.NONE);
  }

  @Test
  void givenFactOfFiftySeconds_thenItExpiresByTheTimeOfDay_beforeTheNextTickOfAMinute() {
    writer.write("x", Duration.ofSeconds(50));
    time.advance(Duration.ofSeconds(50));
    assertThat(new Host(server).read()).isEqualTo(Fact.NONE);
  }

  @Test
  void givenShortFact_whenAProcessHasNotSeenItBefore_thenItEndsByTheTimeOfDay() {
    long version = writer.write("x", SHORT);
    time.advance(SHORT.minusMillis(1));
    Host before = new Host(server);
    assertThat(before.read().version()).isEqualTo(version);
    time.advance(Duration.ofMillis(1));
    assertThat(before.read()).as("it has seen it for a moment only").isEqualTo(Fact.NONE);
    assertThat(new Host(server).read()).isEqualTo(Fact.NONE);
    writer.ahead = HOUR;
    version = writer.write("y", SHORT);
    assertThat(before.read().version()).as("written since").isEqualTo(version);
  }

  /** A waiting party of a barrier refreshes the fact within half of its time. */
  @Test
  void
      givenShortFactThatIsRefreshed_whenAProcessWhoseClockIsSecondsAheadSeesItFirst_thenItStands() {
    long version = writer.write("x", SHORT);
    time.advance(SHORT.dividedBy(2));
    reader.ahead = Duration.ofSeconds(9);
    assertThat(reader.read().version()).isEqualTo(version);
    time.advance(Duration.ofSeconds(1));
    version = writer.write(version, "x", SHORT);
    assertThat(reader.read().version()).isEqualTo(version);
    reader.ahead = HOUR;
    assertThat(reader.read().version()).as("it has seen it change").isEqualTo(version);
    // The control: the fact is refreshed no more.
    time.advance(SHORT);
    assertThat(reader.read()).isEqualTo(Fact.NONE);
  }

  @Test
  void givenShortFactThatChangedLongAfterItWasSeen_thenItCountsAsSeenFirst() {
    long version = writer.write("x", SHORT);
    assertThat(reader.read().version()).isEqualTo(version);
    time.advance(HOUR);
    writer.write("y", SHORT);
    time.advance(SHORT.plusSeconds(1));
    assertThat(reader.read()).isEqualTo(Fact.NONE);
  }

  // ---- Sweeping and lost messages ----

  @Test
  void givenFactsWhoseTimeIsOver_thenTheyAreRemovedADayLater_andNoOthers() {
    writer.write("x", HOUR);
    time.advance(HOUR.plus(Duration.ofDays(1)).minusSeconds(1));
    assertThat(BoundedWait.join(reader.store.sweep(10))).isZero();
    assertThat(documents()).hasSize(1);
    time.advance(Duration.ofSeconds(1));
    assertThat(BoundedWait.join(reader.store.sweep(10))).isEqualTo(1);
    assertThat(documents()).isEmpty();
    assertThat(reader.read()).isEqualTo(Fact.NONE);
  }

  @Test
  void givenReplacementThatIsWrittenLate_whenTheFactHasChangedOrGone_thenItIsRefused() {
    Host far = new Host(lossy);
    next.set(Loss.LATE);
    assertThatThrownBy(() -> far.write("first", HOUR)).hasMessageContaining("no answer");
    long version = reader.write("x", HOUR);
    lossy.landLateWrites();
    assertThat(reader.read()).isEqualTo(new Fact(version, "x"));

    next.set(Loss.LATE);
    assertThatThrownBy(() -> far.write(version, "second", HOUR)).hasMessageContaining("no answer");
    time.advance(HOUR.plus(Duration.ofDays(1)));
    assertThat(BoundedWait.join(reader.store.sweep(10))).isEqualTo(1);
    lossy.landLateWrites();
    assertThat(documents()).isEmpty();
  }

  /** The control of the test above. */
  @Test
  void givenReplacementThatIsWrittenLate_whenNobodyWroteMeanwhile_thenItIsExecuted() {
    Host far = new Host(lossy);
    next.set(Loss.LATE);
    assertThatThrownBy(() -> far.write("first", HOUR)).hasMessageContaining("no answer");
    assertThat(reader.read()).isEqualTo(Fact.NONE);
    lossy.landLateWrites();
    assertThat(reader.read().content()).isEqualTo("first");
  }

  @Test
  void givenReplacementWhoseAnswerIsLost_whenItIsSentAgain_thenItIsRefused_andReadAsWritten() {
    Host far = new Host(lossy);
    long version = far.write("x", HOUR);
    next.set(Loss.ANSWER);
    assertThatThrownBy(() -> far.write(version, "y", HOUR)).hasMessageContaining("no answer");
    assertThat(far.write(version, "y", HOUR)).isZero();
    assertThat(far.read().content()).isEqualTo("y");
    assertThat(far.read().version()).isGreaterThan(version);
  }
}
