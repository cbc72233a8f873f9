package io.mortise.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.Access;
import io.mortise.admin.LockParticipant.ClientInfo;
import io.mortise.admin.LockParticipant.Share;
import io.mortise.spi.AttemptId;
import io.mortise.spi.SessionId;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LockWaitTest {
  private static final long OWN = ProcessHandle.current().pid();

  @Test
  void givenOtherWaiters_thenTheOwnPlaceIsTold() {
    assertThat(LockWait.place(awaitedBy(OWN + 1, OWN), "app")).isEqualTo(", place 2");
    assertThat(LockWait.place(awaitedBy(OWN + 1), "app")).isEmpty();
    assertThat(LockWait.place(awaitedBy(OWN), "db")).isEmpty();
  }

  @Test
  void givenContainersWithOneHostNameAndProcessId_thenNoneIsToldThePlaceOfAnother() {
    assertThat(LockWait.place(awaitedBy(OWN, OWN), "app")).isEmpty();
  }

  private static LockInfo awaitedBy(long... processes) {
    List<LockParticipant> waiters =
        IntStream.range(0, processes.length)
            .mapToObj(
                i ->
                    new LockParticipant(
                        new AttemptId(new SessionId("AAAAAAAAAAA" + i), 1).encoded(),
                        new ClientInfo("app", processes[i], "mortise"),
                        "",
                        new Share(Access.EXCLUSIVE, 0, 0),
                        0,
                        Duration.ofSeconds(1),
                        Duration.ofSeconds(10),
                        null,
                        false,
                        null,
                        Duration.ZERO,
                        null))
            .toList();
    return new LockInfo(
        "job", OptionalInt.empty(), 1, Duration.ZERO, List.of(), waiters, 0, 0, null);
  }
}
