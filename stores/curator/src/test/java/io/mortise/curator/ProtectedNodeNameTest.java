package io.mortise.curator;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.AttemptId;
import io.mortise.spi.SessionId;
import java.util.Random;
import java.util.UUID;
import org.apache.curator.framework.imps.ProtectedUtils;
import org.junit.jupiter.api.Test;

/** Protection ids, which are our attempt ids. */
class ProtectedNodeNameTest {
  @Test
  void givenAttempts_thenTheirNodesAreProtectedAsCuratorSeesIt_andNameThemAgain() {
    Random random = new Random();
    for (int i = 0; i < 1_000; i++) {
      long number = i == 0 ? 1L << 53 : 1 + (random.nextLong() & (1L << 53) - 1) / 2;
      AttemptId attempt = new AttemptId(SessionId.random(random), number);
      String node = ProtectedNodeName.prefix(attempt) + "lock-0000000017";
      assertThat(ProtectedUtils.isProtectedZNode(node)).as(node).isTrue();
      assertThat(ProtectedUtils.normalize(node)).isEqualTo("lock-0000000017");
      assertThat(ProtectedNodeName.attempt(node)).isEqualTo(attempt);
    }
  }

  @Test
  void givenNodesOfOthers_thenEachHasAnAttemptOfItsOwn() {
    String mutex = "_c_" + UUID.randomUUID() + "-lock-0000000001";
    assertThat(ProtectedNodeName.attempt(mutex)).isEqualTo(ProtectedNodeName.attempt(mutex));
    assertThat(ProtectedNodeName.attempt(mutex))
        .isNotEqualTo(ProtectedNodeName.attempt("lock-0000000001"));
    assertThat(ProtectedNodeName.attempt("lock-0000000001"))
        .isNotEqualTo(ProtectedNodeName.attempt("lock-0000000002"));
  }

  @Test
  void givenSequence_thenItsEndIsSeenInTime() {
    assertThat(ProtectedNodeName.isLast("0000000001")).isFalse();
    assertThat(ProtectedNodeName.isLast("2147483000")).isTrue();
    assertThat(ProtectedNodeName.isLast("-2147483648")).isTrue();
  }
}
