package io.mortise.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.jr.ob.JSON;
import io.mortise.LockClient;
import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.TestStore;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An operator's steps from an alarm to its end, with services as processes on a real Redis. */
@Tag("extended")
class OperatorTest {
  private static final Duration SEEN = Duration.ofSeconds(5);

  private RawHttp http;

  @SuppressWarnings("unchecked") // The answers of the API are objects.
  private Map<String, Object> get(String path) throws IOException {
    return (Map<String, Object>) JSON.std.anyFrom(http.get("/api/v1/" + path).body());
  }

  @SuppressWarnings("unchecked") // The same.
  private static List<Map<String, Object>> list(Map<String, Object> in, String key) {
    return (List<Map<String, Object>>) in.get(key);
  }

  @SuppressWarnings("unchecked") // The same.
  private static Map<String, Object> object(Map<String, Object> in, String key) {
    return (Map<String, Object>) in.get(key);
  }

  private List<Map<String, Object>> alarms() throws IOException {
    return list(get("status"), "alarms").stream()
        .filter(alarm -> "cycle".equals(alarm.get("kind")))
        .toList();
  }

  private List<String> history(String lock) throws IOException {
    return list(get("locks/" + lock.replace("/", "%2F") + "/history?since=0"), "events").stream()
        .map(event -> event.get("kind") + " " + event.get("client"))
        .toList();
  }

  @Test
  void
      givenServicesThatWaitForEachOther_whenOperatorEvictsTheYounger_thenTheOtherIsDone_andHistoryTells()
          throws Exception {
    String url = TestStore.REDIS.newUrl();
    try (LockClient looking = LockClient.connect(url);
        // With the default settings and budget.
        Console console =
            Console.builder(looking)
                .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .allow(EnumSet.of(ConsoleAction.CLOSE))
                .start();
        TransferService billing = new TransferService(url, "billing", "account/1", "account/7");
        TransferService audit = new TransferService(url, "audit", "account/7", "account/1")) {
      http = new RawHttp(console);
      // Both hold: the older one is first, and the console has seen it.
      assertThat(billing.line()).isEqualTo(TransferService.HOLDS_ONE);
      assertThat(audit.line()).isEqualTo(TransferService.HOLDS_ONE);
      await()
          .atMost(BoundedWait.ANSWER)
          .untilAsserted(
              () ->
                  assertThat(list(get("locks?state=held"), "locks"))
                      .extracting(lock -> lock.get("name"))
                      .containsExactlyInAnyOrder("account/1", "account/7"));
      assertThat(alarms()).isEmpty();

      billing.goOn();
      audit.goOn();
      await()
          .atMost(BoundedWait.ANSWER)
          .until(
              () ->
                  looking.admin().find("account/1").orElseThrow().waiters().size()
                          + looking.admin().find("account/7").orElseThrow().waiters().size()
                      == 2);
      // As often as a page polls.
      await()
          .pollInterval(Duration.ofMillis(200))
          .atMost(BoundedWait.scaled(SEEN))
          .until(() -> !alarms().isEmpty());
      assertThat(String.valueOf(alarms().get(0).get("locks"))).contains("account/1", "account/7");

      // The culprit: in the cycle, the session with the more recent hold.
      Map<String, Object> waits = get("waits");
      assertThat(list(waits, "cycles")).hasSize(1);
      Map<String, Long> pids = new HashMap<>();
      for (Map<String, Object> node : list(waits, "nodes")) {
        pids.put((String) node.get("client"), ((Number) node.get("pid")).longValue());
      }
      assertThat(pids).isEqualTo(Map.of("billing", billing.pid(), "audit", audit.pid()));
      Map<String, Object> lock = object(get("locks/account%2F7"), "lock");
      Map<String, Object> holder = list(lock, "holders").get(0);
      assertThat(holder.get("client")).isEqualTo("audit");
      assertThat(list(lock, "waiters").get(0).get("client")).isEqualTo("billing");

      Map<String, Object> body = new HashMap<>();
      body.put("attempt", holder.get("attempt"));
      body.put("token", holder.get("token"));
      body.put("how", "close");
      RawHttp.Answer answer = http.post("/api/v1/locks/account%2F7/evict", JSON.std.asString(body));
      assertThat(answer.status()).as(answer.body()).isEqualTo(200);
      assertThat(answer.body()).contains("hold_ended").contains(":" + audit.pid());

      assertThat(audit.line()).isEqualTo(TransferService.EVICTED);
      assertThat(billing.line()).isEqualTo(TransferService.DONE);
      await().atMost(BoundedWait.ANSWER).until(() -> alarms().isEmpty());

      // Afterwards: the evicted session, the operator, and the cancelled wait for the other lock.
      await()
          .atMost(BoundedWait.ANSWER)
          .untilAsserted(
              () -> {
                assertThat(history("account/7"))
                    .contains("granted audit", "waiting billing", "evicted audit");
                assertThat(history("account/1"))
                    .contains("granted billing", "waiting audit", "gave_up audit");
              });
      Map<String, Object> evicted =
          list(get("events?kind=evicted"), "events").stream().findFirst().orElseThrow();
      assertThat(evicted)
          .containsEntry("lock", "account/7")
          .containsEntry("text", "ended by an operator")
          .containsEntry("attempt", holder.get("attempt"))
          .containsEntry("token", holder.get("token"));
    }
  }
}
