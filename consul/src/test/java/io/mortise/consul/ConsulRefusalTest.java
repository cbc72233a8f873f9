package io.mortise.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockException;
import io.mortise.StoreUnfitException;
import io.mortise.spi.StoreUrl;
import org.junit.jupiter.api.Test;

class ConsulRefusalTest {
  private static final ConsulTarget TARGET = ConsulTarget.parse(StoreUrl.parse("consul://a"));

  @Test
  void givenAnswerOfManyPages_thenMessagesShowItsBegin_andAllOfItIsJudged() {
    String page = "<html>" + "x".repeat(100_000);
    ConsulRefusal refusal = new ConsulRefusal(502, page);
    LockException translated = refusal.translated(TARGET);
    assertThat(translated).hasMessageContaining("status=502): <html>x").hasMessageContaining("x….");
    assertThat(translated.getMessage().length() + refusal.getMessage().length()).isLessThan(600);
    assertThat(new ConsulRefusal(500, page + " ACL not found").translated(TARGET))
        .isInstanceOf(StoreUnfitException.class);
    assertThat(new ConsulRefusal(500, "No cluster leader").translated(TARGET))
        .hasMessageContaining("No cluster leader.");
  }
}
