package io.mortise.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockException;
import org.junit.jupiter.api.Test;

class EtcdRefusalTest {
  @Test
  void givenAnswerOfManyPages_thenMessagesShowItsBegin_andAllOfItIsJudged() {
    String page = "<html>" + "x".repeat(100_000);
    EtcdRefusal refusal = new EtcdRefusal(502, page);
    LockException translated = refusal.translated("etcd://a");
    assertThat(translated).hasMessageContaining("status=502): <html>x").hasMessageContaining("x….");
    assertThat(translated.getMessage().length() + refusal.getMessage().length()).isLessThan(600);
    assertThat(new EtcdRefusal(503, page + " no leader").isOfMember()).isTrue();
  }
}
