package io.mortise.internal.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import java.io.File;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Events of a process's locks in a recording of the Java Flight Recorder. */
class FlightRecordingTest {
  @TempDir private Path folder;

  @Test
  void givenRecordingThatBeginsAfterTheClient_thenItHasAcquiresHoldsLossesAndSessions()
      throws Exception {
    List<RecordedEvent> events;
    LockClient locks = LockClient.connect("mem:flight");
    try (Recording recording = new Recording()) {
      locks.lock("before").acquire().close();
      recording.enable("io.mortise.Acquire").withThreshold(Duration.ZERO);
      recording.enable("io.mortise.Hold").withThreshold(Duration.ZERO);
      recording.enable("io.mortise.Lost");
      recording.enable("io.mortise.Session");
      recording.start();
      use(locks);
      locks.close();
      recording.stop();
      Path file = folder.resolve("locks.jfr");
      recording.dump(file);
      events = RecordingFile.readAllEvents(file);
    } finally {
      locks.close();
    }
    RecordedEvent acquire = one(events, "io.mortise.Acquire", "invoice/42");
    assertThat(acquire.getString("outcome")).isEqualTo("granted");
    assertThat(acquire.getString("access")).isEqualTo("exclusive");
    assertThat(acquire.getString("store")).isEqualTo("mem:flight");
    assertThat(acquire.getString("lockLabel")).isEqualTo("nightly");
    assertThat(acquire.getLong("token")).isPositive();
    RecordedEvent hold = one(events, "io.mortise.Hold", "invoice/42");
    assertThat(hold.getString("end")).isEqualTo("released");
    assertThat(hold.getLong("call")).isEqualTo(acquire.getLong("call"));
    assertThat(hold.getLong("token")).isEqualTo(acquire.getLong("token"));
    assertThat(one(events, "io.mortise.Hold", "short").getString("end")).isEqualTo("at-most");
    RecordedEvent lost = one(events, "io.mortise.Lost", "short");
    assertThat(lost.getString("cause")).isEqualTo("at-most");
    assertThat(lost.getString("reason")).contains("at-most");
    assertThat(lost.getDuration("held")).isGreaterThan(Duration.ofMillis(50));
    assertThat(events)
        .filteredOn(event -> event.getEventType().getName().equals("io.mortise.Session"))
        .singleElement()
        .satisfies(event -> assertThat(event.getString("state")).isEqualTo("closed"));
    assertThat(events)
        .filteredOn(event -> event.hasField("lock"))
        .noneMatch(event -> event.getString("lock").equals("before"));
  }

  private static void use(LockClient locks) throws InterruptedException {
    locks.lock("invoice/42", LockOptions.DEFAULTS.withLabel("nightly")).acquire().close();
    Lease lost =
        locks.lock("short", LockOptions.DEFAULTS.withAtMost(Duration.ofMillis(100))).acquire();
    CountDownLatch told = new CountDownLatch(1);
    lost.onLost(loss -> told.countDown());
    assertThat(told.await(20, TimeUnit.SECONDS)).isTrue();
    assertThatThrownBy(lost::close).isInstanceOf(LeaseLostException.class);
  }

  private static RecordedEvent one(List<RecordedEvent> events, String type, String lock) {
    List<RecordedEvent> found =
        events.stream()
            .filter(event -> event.getEventType().getName().equals(type))
            .filter(event -> event.getString("lock").equals(lock))
            .toList();
    assertThat(found).as(type + " of " + lock + " in " + events).hasSize(1);
    return found.get(0);
  }

  @Test
  void givenRuntimeWithoutFlightRecorder_thenLocksAreServed() throws Exception {
    assertThat(lockWith("--limit-modules", "java.base")).contains("locked without recorder: true");
  }

  @Test
  void givenNoRecording_thenNoEventClassIsLoaded() throws Exception {
    assertThat(lockWith("-Xlog:class+load"))
        .contains("locked without recorder: false", JfrRecording.class.getName() + " ")
        .doesNotContain(LockAcquireEvent.class.getName());
  }

  private static String lockWith(String... options) throws Exception {
    List<String> words = new ArrayList<>();
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.addAll(List.of(options));
    words.addAll(
        List.of("-cp", System.getProperty("java.class.path"), LockWithoutRecorder.class.getName()));
    Process process =
        new ProcessBuilder(words)
            .redirectErrorStream(true)
            .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
            .start();
    try (InputStream output = process.getInputStream()) {
      String said = new String(output.readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).as(said).isZero();
      return said;
    } finally {
      process.destroyForcibly();
    }
  }

  /** Locks once, in a runtime image with java.base only. */
  static final class LockWithoutRecorder {
    private LockWithoutRecorder() {}

    @SuppressWarnings("SystemOut")
    public static void main(String[] arguments) throws InterruptedException {
      boolean none = ModuleLayer.boot().findModule("jdk.jfr").isEmpty();
      try (LockClient locks = LockClient.connect("mem:no-recorder")) {
        locks.lock("a").acquire().close();
        System.out.println("locked without recorder: " + none);
      }
    }
  }
}
