package io.mortise.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockException;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.support.http.HttpServers.HttpResponse;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class EtcdRefusalTest {
  @Test
  void givenAnswerOfManyPages_thenMessagesShowItsBegin_andAllOfItIsJudged() {
    String page = "<html>" + "x".repeat(100_000);
    EtcdRefusal refusal = refusal(502, page);
    LockException translated = refusal.translated("etcd://a");
    assertThat(translated).hasMessageContaining("status=502): <html>x").hasMessageContaining("x….");
    assertThat(translated.getMessage().length() + refusal.getMessage().length()).isLessThan(600);
    assertThat(refusal(503, page + " no leader").isOfMember()).isTrue();
  }

  @Test
  void givenAnswerOfAnotherServer_thenItIsTold_withoutControlCharacters() {
    assertThat(refusal(404, "<html>\u001b[31mnothing\nhere").translated("etcd://a"))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining(
            "no JSON gateway there (store=etcd://a, status=404, server='nginx 1', answer='<html> [31mnothing here').");
    for (int status : List.of(301, 405, 501)) {
      assertThat(refusal(status, "<html>").translated("etcd://a"))
          .isInstanceOfSatisfying(
              StoreUnfitException.class,
              unfit -> assertThat(unfit.isNotWritable()).as("an outage, once open").isTrue())
          .hasMessageContaining("status=" + status);
    }
    for (int status : List.of(200, 429, 500, 502, 503)) {
      assertThat(refusal(status, "<html>").translated("etcd://a"))
          .as("of a proxy, perhaps")
          .isInstanceOf(StoreUnavailableException.class);
    }
  }

  private static EtcdRefusal refusal(int status, String body) {
    return new EtcdRefusal(new HttpResponse(0, status, Map.of("server", "nginx\t1"), body));
  }
}
