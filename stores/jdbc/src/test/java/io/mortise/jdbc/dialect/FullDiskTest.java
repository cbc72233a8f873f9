package io.mortise.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.jdbc.JdbcStore;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.testkit.SessionDriver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** A disk without any room left, under SQLite. */
class FullDiskTest {
  private static final Duration LONG = Duration.ofSeconds(60);

  private static FillableDisk disk() {
    Optional<FillableDisk> disk = FillableDisk.mount(2);
    Assumptions.assumeTrue(
        disk.isPresent(), "SKIPPED: a disk that can be filled needs root that may mount.");
    return disk.orElseThrow();
  }

  private static LockName name(int number) {
    // Long, so that few fill a page of the file.
    return LockName.of("lock/" + number + "/" + "x".repeat(300));
  }

  private static String url(FillableDisk disk) {
    return "jdbc:sqlite:" + disk.folder().resolve("locks.db");
  }

  private static boolean isReleased(SessionDriver session, LockName name, AttemptId attempt) {
    return session.ask(new Request.Abandon(name, attempt)) instanceof Reply.Ended ended
        && ended.was() == Reply.AttemptState.HELD;
  }

  @Test
  void givenFullDisk_whenNewLocksAreWanted_thenTheyAreRefused_andNothingIsForgotten()
      throws Exception {
    try (FillableDisk disk = disk();
        LockStore store = JdbcStore.open(url(disk))) {
      SessionDriver session = SessionDriver.open(store, LONG, "client");
      List<Reply.Granted> held = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        held.add(session.hold(name(i), Mode.EXCLUSIVE));
      }
      disk.fill();

      Reply refused = null;
      for (int i = 1000; i < 4000 && !(refused instanceof Reply.Refused); i++) {
        refused = session.acquire(name(i), session.attempt(), Mode.EXCLUSIVE);
      }
      assertThat(refused)
          .isInstanceOfSatisfying(
              Reply.Refused.class,
              reply -> {
                assertThat(reply.why()).isEqualTo(Reply.RefusalReason.STORE_FULL);
                assertThat(reply.message()).contains("no room left");
              });
      disk.clear();

      assertThat(session.renew()).isInstanceOf(Renewal.Renewed.class);
      for (int i = 0; i < 20; i++) {
        assertThat(isReleased(session, name(i), held.get(i).attempt())).isTrue();
        assertThat(session.hold(name(i), Mode.EXCLUSIVE).token())
            .isGreaterThan(held.get(i).token());
      }
      session.hold(name(5000), Mode.EXCLUSIVE);
    }
  }

  @Test
  void givenFullDisk_whenALockIsTried_thenTheMessageSaysSo() throws Exception {
    try (FillableDisk disk = disk();
        LockClient client = LockClient.builder().url(url(disk)).ttl(LONG).build()) {
      List<Lease> leases = new ArrayList<>();
      leases.add(client.lock("held").acquire());
      disk.fill();
      Throwable thrown = null;
      for (int i = 0; i < 4000 && thrown == null; i++) {
        String name = name(i).value();
        thrown = catchThrowable(() -> client.lock(name).tryAcquire().ifPresent(leases::add));
      }
      assertThat(thrown)
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("no room left");
      disk.clear();
    }
  }
}
