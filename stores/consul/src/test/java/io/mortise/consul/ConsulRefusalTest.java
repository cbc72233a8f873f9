package io.mortise.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockException;
import io.mortise.StoreUnfitException;
import io.mortise.spi.StoreUrl;
import io.mortise.support.http.HttpServers.HttpResponse;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ConsulRefusalTest {
  private static final ConsulTarget TARGET = ConsulTarget.parse(StoreUrl.parse("consul://a"));

  @Test
  void givenDenial_thenItIsSaidWhetherTheUrlHasAToken() {
    ConsulRefusal denial = refusal(403, "Permission denied");
    String policy = "key_prefix \"mortise/\" { policy = \"write\" }.";
    assertThat(denial.translated(TARGET))
        .hasMessageStartingWith("Without a token")
        .hasMessageEndingWith(policy);
    assertThat(denial.translated(ConsulTarget.parse(StoreUrl.parse("consul://s3cret@a"))))
        .hasMessageStartingWith("The token may not")
        .hasMessageEndingWith(policy)
        .hasMessageNotContaining("s3cret");
  }

  @Test
  void givenAnswerOfManyPages_thenMessagesShowItsBegin_andAllOfItIsJudged() {
    String page = "<html>" + "x".repeat(100_000);
    ConsulRefusal refusal = refusal(502, page);
    LockException translated = refusal.translated(TARGET);
    assertThat(translated).hasMessageContaining("status=502): <html>x").hasMessageContaining("x….");
    assertThat(translated.getMessage().length() + refusal.getMessage().length()).isLessThan(600);
    assertThat(refusal(500, page + " ACL not found").translated(TARGET))
        .isInstanceOf(StoreUnfitException.class);
    assertThat(refusal(500, "No cluster leader").translated(TARGET))
        .hasMessageContaining("No cluster leader.");
  }

  @Test
  void givenAnswerOfAnotherServer_thenItIsTold() {
    assertThat(refusal(404, "<html>\nnothing").translated(TARGET))
        .isInstanceOfSatisfying(
            StoreUnfitException.class,
            unfit -> assertThat(unfit.isNotWritable()).as("an outage, once open").isTrue())
        .hasMessageContaining("status=404, server='nginx', answer='<html> nothing').");
    assertThat(refusal(501, "<html>no PUT").translated(TARGET))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("Name an agent of Consul.");
  }

  private static ConsulRefusal refusal(int status, String body) {
    return new ConsulRefusal(new HttpResponse(0, status, Map.of("server", "nginx"), body));
  }
}
