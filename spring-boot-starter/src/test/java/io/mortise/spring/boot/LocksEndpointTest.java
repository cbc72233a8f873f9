package io.mortise.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockClient;
import io.mortise.admin.LockAdmin;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.Access;
import io.mortise.admin.LockParticipant.Share;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What the endpoint shows of a lock. */
class LocksEndpointTest {
  private static final Duration TTL = Duration.ofSeconds(15);

  private static LockInfo heldBySession(@Nullable Duration renewedAgo) {
    LockParticipant holder =
        new LockParticipant(
            "a",
            null,
            "",
            new Share(Access.EXCLUSIVE, 0, 0),
            7,
            Duration.ZERO,
            TTL,
            null,
            false,
            null,
            TTL,
            renewedAgo);
    return new LockInfo(
        "job", OptionalInt.empty(), 7, Duration.ZERO, List.of(holder), List.of(), 0, null);
  }

  private static <T> T answering(Class<T> type, Object answer) {
    return type.cast(
        Proxy.newProxyInstance(
            LocksEndpointTest.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> answer));
  }

  private static @Nullable Object holders(LockInfo lock) {
    LockAdmin admin = answering(LockAdmin.class, Optional.of(lock));
    LocksEndpoint endpoint = new LocksEndpoint(answering(LockClient.class, admin));
    Map<String, Object> shown = endpoint.lock(new String[] {"job"});
    return shown == null ? null : shown.get("holders");
  }

  @Test
  void givenStoreWithoutAClock_thenItIsShownHowLongAgoAHolderWasRenewed() {
    assertThat(holders(heldBySession(Duration.ofMinutes(4))))
        .asString()
        .contains("renewedAgoMillis=240000");
    assertThat(holders(heldBySession(null))).asString().doesNotContain("renewedAgo");
  }
}
