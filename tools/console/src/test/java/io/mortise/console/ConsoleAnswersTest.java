package io.mortise.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.jr.ob.JSON;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.console.RawHttp.Answer;
import io.mortise.spi.StoreReport;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The API's answers about locks of a real store. */
class ConsoleAnswersTest {
  private LockClient one;
  private LockClient two;
  private LockClient looking;
  private Console console;
  private RawHttp http;

  @BeforeEach
  void open() {
    String url = "mem:" + UUID.randomUUID();
    one = LockClient.builder().url(url).name("one").build();
    two = LockClient.builder().url(url).name("two").build();
    looking = LockClient.connect(url);
    console =
        Console.builder(looking)
            .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .allow(EnumSet.allOf(ConsoleAction.class))
            .budget(1)
            .diagnostics(
                () ->
                    StoreReport.about("redis/everysec")
                        .weak("appendonly", "no", "m redis://u:hunter2@h", "password=hunter2", "x")
                        .build())
            .start();
    http = new RawHttp(console);
  }

  @AfterEach
  void close() {
    console.close();
    looking.close();
    two.close();
    one.close();
  }

  private Map<String, Object> get(String path) throws IOException {
    Answer answer = http.get("/api/v1/" + path);
    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    return JSON.std.mapFrom(answer.body());
  }

  @SuppressWarnings("unchecked")
  private static List<Map<String, Object>> list(Map<String, Object> json, String key) {
    return (List<Map<String, Object>>) json.get(key);
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> object(Map<String, Object> json, String key) {
    return (Map<String, Object>) json.get(key);
  }

  private List<Object> names(String query) throws IOException {
    return list(get("locks?" + query), "locks").stream().map(line -> line.get("name")).toList();
  }

  private static void soon(ThrowingRunnable check) {
    await().atMost(Duration.ofSeconds(30)).untilAsserted(check);
  }

  @Test
  void givenHolderAndWaiters_thenListShowsTroubleFirst_andFilters() throws Exception {
    try (Lease calm = one.lock("calm/x").acquire();
        Lease busy = one.lock("busy/y", LockOptions.DEFAULTS.withLabel("nightly Run")).acquire()) {
      CompletableFuture<Lease> waiting = two.lock("busy/y").acquireAsync();
      soon(
          () -> {
            assertThat(names("")).containsExactly("busy/y", "calm/x");
            Map<String, Object> line = list(get("locks"), "locks").get(0);
            assertThat(line.get("waiters")).isEqualTo(1);
            assertThat(line.get("trouble")).isEqualTo(List.of("waited"));
            assertThat(object(line, "first"))
                .containsEntry("client", "one")
                .containsEntry("label", "nightly Run")
                .containsEntry("pid", (int) ProcessHandle.current().pid());
          });
      assertThat(names("state=waited")).containsExactly("busy/y");
      assertThat(names("state=uncontended")).containsExactly("calm/x");
      assertThat(names("prefix=calm/")).containsExactly("calm/x");
      assertThat(names("q=NIGHTLY")).containsExactly("busy/y");
      assertThat(names("q=" + ProcessHandle.current().pid())).hasSize(2);
      assertThat(names("sort=name&limit=1")).containsExactly("busy/y");
      Map<String, Object> page = get("locks?sort=name&limit=1");
      assertThat(page).containsEntry("total", 2).containsEntry("next", "1");
      assertThat(names("sort=name&limit=1&cursor=1")).containsExactly("calm/x");
      waiting.cancel(false);
      assertThat(calm.isValid() && busy.isValid()).isTrue();
    }
  }

  @Test
  void givenNameThatNoSurveyHasSeen_thenItIsAskedOfTheStore() throws Exception {
    soon(() -> assertThat(object(get("status"), "survey").get("asOfAt")).isNotNull());
    try (Lease lease = one.lock("new").acquire()) {
      assertThat(names("q=new")).containsExactly("new");
      assertThat(object(get("locks/new"), "lock")).containsEntry("state", "held");
      assertThat(lease.isValid()).isTrue();
    }
    assertThat(object(get("locks/never"), "lock")).containsEntry("state", "free");
  }

  @Test
  void givenDeadlock_thenWaitsHaveItsCycle_statusAlarms_andTheChainEndsInItself() throws Exception {
    Lease a = one.lock("account/1").acquire();
    Lease b = two.lock("account/7").acquire();
    CompletableFuture<Lease> first = one.lock("account/7").acquireAsync();
    CompletableFuture<Lease> second = two.lock("account/1").acquireAsync();
    try {
      soon(
          () -> {
            Map<String, Object> waits = get("waits");
            assertThat(list(waits, "cycles")).hasSize(1);
            assertThat(list(waits, "cycles").get(0).get("locks"))
                .isEqualTo(List.of("account/1", "account/7"));
            assertThat(list(waits, "edges")).hasSize(2);
            assertThat(list(waits, "nodes")).hasSize(2);
            assertThat(list(waits, "trees")).hasSize(2);
          });
      Map<String, Object> status = get("status");
      assertThat(list(status, "alarms").get(0)).containsEntry("kind", "cycle");
      assertThat(object(status, "counts")).containsEntry("cycles", 1).containsEntry("waited", 2);
      Map<String, Object> lock = get("locks/account%2F1");
      assertThat(lock).containsEntry("cycle", true);
      assertThat(list(lock, "chain")).hasSize(2);
      assertThat(names("state=cycle")).hasSize(2);
    } finally {
      first.cancel(false);
      second.cancel(false);
      a.close();
      b.close();
    }
    soon(() -> assertThat(list(get("waits"), "cycles")).isEmpty());
  }

  @Test
  void givenProcesses_thenEachHasItsHoldsAndWaits_andItsEvents() throws Exception {
    soon(() -> assertThat(object(get("status"), "survey").get("asOfAt")).isNotNull());
    try (Lease lease = one.lock("p").acquire()) {
      CompletableFuture<Lease> waiting = two.lock("p").acquireAsync();
      soon(
          () -> {
            List<Map<String, Object>> processes = list(get("processes"), "processes");
            assertThat(processes).extracting(line -> line.get("client")).contains("one", "two");
            assertThat(processes.get(0)).containsEntry("client", "two").containsEntry("waits", 1);
          });
      Object session = list(get("processes?q=one"), "processes").get(0).get("session");
      Map<String, Object> process = get("processes/" + session);
      assertThat(list(process, "holds").get(0)).containsEntry("lock", "p");
      waiting.cancel(false);
      soon(
          () ->
              assertThat(list(get("events?lock=p"), "events"))
                  .extracting(event -> event.get("kind"))
                  .contains("granted", "waiting", "gave_up"));
      assertThat(lease.isValid()).isTrue();
    }
    assertThat(http.get("/api/v1/events?kind=granted,bogus").status()).isEqualTo(400);
    assertThat(http.get("/api/v1/processes/nobody").status()).isEqualTo(404);
    assertThat(list(get("processes?cursor=" + Integer.MAX_VALUE), "processes")).isEmpty();
    soon(
        () ->
            assertThat(list(get("locks/p/history"), "events").get(0))
                .containsEntry("kind", "released"));
  }

  @Test
  void givenDoctorAndGuarantees_thenNoSecretIsInThem() throws Exception {
    Map<String, Object> doctor = get("doctor");
    assertThat(doctor).containsEntry("mode", "redis/everysec").containsEntry("healthy", false);
    assertThat(http.get("/api/v1/doctor?fresh=true").body()).doesNotContain("hunter2");
    assertThat(get("status")).containsEntry("mode", "redis/everysec");
    Map<String, Object> guarantees = get("guarantees?mode=redis/always");
    assertThat(guarantees).containsEntry("here", "redis/everysec");
    assertThat(list(guarantees, "modes")).hasSize(1);
    assertThat(list(guarantees, "faults").size())
        .isEqualTo(list(list(guarantees, "modes").get(0), "cells").size());
    assertThat(list(get("guarantees"), "modes").size()).isGreaterThan(10);
    assertThat(http.get("/api/v1/guarantees?mode=x").status()).isEqualTo(404);
  }

  @Test
  void givenHazards_whenTheModeIsKnown_thenEachTellsWhetherItConcernsThisStore() throws Exception {
    assertThat(list(get("hazards"), "stories"))
        .hasSizeGreaterThan(10)
        .allSatisfy(story -> assertThat(story).containsEntry("concerns", null))
        .allSatisfy(story -> assertThat(story.get("mortise")).asString().isNotEmpty());
    get("doctor");
    Map<String, Object> known = get("hazards");
    assertThat(known).containsEntry("here", "redis/everysec");
    Map<Object, Object> concerns = new LinkedHashMap<>();
    list(known, "stories").forEach(story -> concerns.put(story.get("name"), story.get("concerns")));
    assertThat(concerns)
        .containsEntry("gc-pause", true)
        .containsEntry("failover-forgets", true)
        .containsEntry("thundering-herd", true)
        .containsEntry("redlock-restart", false)
        .containsEntry("zk-session-gc", false)
        .containsEntry("db-crash-holder", false);
    assertThat(list(list(known, "stories").get(0), "faults").get(0))
        .containsEntry("id", "client-pause")
        .containsEntry("answer", "detected");
  }

  @Test
  void givenHolder_whenClosed_thenItIsTold_andTheHistoryHasWho() throws Exception {
    soon(() -> assertThat(object(get("status"), "survey").get("asOfAt")).isNotNull());
    Lease lease = one.lock("c").acquire();
    Map<String, Object> holder = holder("c");
    Answer done = evict("c", holder.get("attempt"), holder.get("token"), "close", null);
    assertThat(done.status()).as(done.body()).isEqualTo(200);
    assertThat(done.body()).contains("\"result\":\"hold_ended\"", "Told ", "to let go");
    soon(() -> assertThat(lease.isValid()).isFalse());
    try {
      lease.close();
    } catch (LeaseLostException e) {
      assertThat(e).hasMessageContaining("c");
    }
    soon(
        () ->
            assertThat(list(get("events?lock=c"), "events"))
                .extracting(event -> event.get("kind"))
                .contains("evicted"));
  }

  @Test
  void givenSomebodyElseHoldsByNow_thenConflict_andNothingIsDone() throws Exception {
    Lease before = one.lock("c").acquire();
    Map<String, Object> shown = holder("c");
    before.close();
    try (Lease now = two.lock("c").acquire()) {
      for (String how : List.of("close", "break")) {
        Answer stale = evict("c", shown.get("attempt"), shown.get("token"), how, "c");
        assertThat(stale.status()).isEqualTo(409);
        assertThat(stale.body()).contains("\"changed\"", "Nothing was done", "\"client\":\"two\"");
      }
      Map<String, Object> current = holder("c");
      Answer otherToken = evict("c", current.get("attempt"), "1", "break", "c");
      assertThat(otherToken.status()).isEqualTo(409);
      for (Object none : Arrays.asList(null, "", "none")) {
        Answer malformed = evict("c", none, current.get("token"), "close", null);
        assertThat(malformed.status()).isEqualTo(400);
        assertThat(malformed.body()).contains("Not an attempt id: '" + (none == null ? "" : none));
      }
      Answer unconfirmed = evict("c", current.get("attempt"), current.get("token"), "break", "C");
      assertThat(unconfirmed.status()).isEqualTo(400);
      assertThat(http.post("/api/v1/locks/c/open", "{\"confirm\":\"c\"}").status()).isEqualTo(409);
      assertThat(now.isValid()).isTrue();
      Answer broken = evict("c", current.get("attempt"), current.get("token"), "break", "c");
      assertThat(broken.status()).as(broken.body()).isEqualTo(200);
      soon(() -> assertThat(now.isValid()).isFalse());
    } catch (LeaseLostException e) {
      assertThat(e).hasMessageContaining("c");
    }
  }

  @Test
  void givenWaiter_whenEvicted_thenItsWaitEnds() throws Exception {
    try (Lease lease = one.lock("w").acquire()) {
      CompletableFuture<Lease> waiting = two.lock("w").acquireAsync();
      soon(() -> assertThat(list(object(get("locks/w"), "lock"), "waiters")).hasSize(1));
      Object attempt = list(object(get("locks/w"), "lock"), "waiters").get(0).get("attempt");
      Answer done = evict("w", attempt, null, "close", null);
      assertThat(done.body()).contains("wait_ended");
      assertThat(lease.isValid()).isTrue();
      waiting.cancel(false);
    }
  }

  @Test
  void givenShutLock_thenItIsShown_andCanBeOpened() throws Exception {
    LockOptions shut = LockOptions.DEFAULTS.withAtLeast(Duration.ofMinutes(2));
    one.lock("s", shut).acquire().close();
    assertThat(object(get("locks/s"), "lock")).containsEntry("state", "shut");
    soon(() -> assertThat(names("state=shut")).containsExactly("s"));
    assertThat(http.post("/api/v1/locks/s/open", "{\"confirm\":\"s\"}").body())
        .contains("\"opened\":true");
    try (Lease lease = two.lock("s").acquireWithin(Duration.ofSeconds(10))) {
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void givenCsv_thenNoCellIsAFormula() throws Exception {
    try (Lease lease =
        one.lock("=cmd|' /C calc'!A0", LockOptions.DEFAULTS.withLabel("+1,\"x\"")).acquire()) {
      soon(() -> assertThat(names("")).hasSize(1));
      Map<String, String> headers = http.authorized();
      headers.put("Accept", "text/csv");
      Answer csv = http.send("GET", "/api/v1/locks", headers, "");
      assertThat(csv.header("Content-Type")).isEqualTo("text/csv; charset=utf-8");
      assertThat(csv.body().lines().findFirst())
          .contains(
              "name,state,trouble,holders,waiters,host,pid,client,label,mode,token,heldMillis,waitedMillis,"
                  + "shutForMillis");
      assertThat(csv.body()).contains("\"'=cmd|' /C calc'!A0\"", "\"'+1,\"\"x\"\"\"");
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void givenStream_thenItHasSnapshots_thenWhatChanges() throws Exception {
    try (Lease lease = one.lock("first").acquire();
        Socket socket = http.open()) {
      soon(() -> assertThat(names("")).containsExactly("first"));
      socket
          .getOutputStream()
          .write(http.stream("lock=second&waits=true&processes=true&list=sort%3Dname"));
      String begin = RawHttp.readUntil(socket.getInputStream(), "event: processes");
      assertThat(begin).contains("event: status", "event: list", "event: lock", "event: waits");
      Lease second = one.lock("second").acquire();
      String change =
          RawHttp.readUntil(socket.getInputStream(), "\"order\":[\"first\",\"second\"]");
      assertThat(change).contains("event: change");
      RawHttp.readUntil(socket.getInputStream(), "event: event");
      RawHttp.readUntil(socket.getInputStream(), "\"kind\":\"granted\"");
      second.close();
      RawHttp.readUntil(socket.getInputStream(), "\"order\":[\"first\"]");
      // A renewal only moves the end of a session.
      String renewed = RawHttp.readUntil(socket.getInputStream(), "event: processes");
      assertThat(renewed).doesNotContain("event: change");
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void givenManyStreamsWithASearch_thenTheyAskTheStoreNothing_andSurveysGoOn() throws Exception {
    CountedAdmin counted = new CountedAdmin(looking);
    List<Socket> streams = new ArrayList<>();
    try (Console other =
            Console.builder(counted.client())
                .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .start();
        Lease lease = one.lock("invoice/1").acquire()) {
      RawHttp others = new RawHttp(other);
      for (int i = 0; i < 10; i++) {
        Socket socket = others.open();
        streams.add(socket);
        socket.getOutputStream().write(others.stream("list=q%3Dinvoic"));
        RawHttp.readUntil(socket.getInputStream(), "event: list");
      }
      int surveys = counted.surveys();
      soon(() -> assertThat(counted.surveys()).isGreaterThan(surveys + 1));
      assertThat(counted.finds("invoic")).isZero();
      assertThat(others.get("/api/v1/locks?q=invoic").status()).isEqualTo(200);
      assertThat(counted.finds("invoic")).isEqualTo(1);
      assertThat(lease.isValid()).isTrue();
    } finally {
      for (Socket socket : streams) {
        socket.close();
      }
    }
  }

  /** A view may be 1.5 s old. */
  private Map<String, Object> holder(String name) throws IOException {
    soon(() -> assertThat(list(object(get("locks/" + name), "lock"), "holders")).isNotEmpty());
    return list(object(get("locks/" + name), "lock"), "holders").get(0);
  }

  private Answer evict(String name, Object attempt, Object token, String how, String confirm)
      throws IOException {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("attempt", attempt);
    body.put("token", token);
    body.put("how", how);
    body.put("confirm", confirm);
    return http.post("/api/v1/locks/" + name + "/evict", JSON.std.asString(body));
  }
}
