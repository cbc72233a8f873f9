package shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.LockClient;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.PostgresServer;
import io.mortise.testserver.RedisServer;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Instances in JVMs of their own, on real servers; one is killed, one is paused. */
class ShopTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Duration TTL = Duration.ofSeconds(2);
  private static final int CUSTOMERS = 4;
  private static final int ORDERS = 15;

  @TempDir private Path folder;
  private final List<AutoCloseable> opened = new ArrayList<>();
  private final List<String> properties = new ArrayList<>();
  private PostgresServer postgres;

  @BeforeEach
  void startDatabase() {
    postgres =
        PostgresServer.start(TestPrerequisites.required(PostgresServer.installed(), "PostgreSQL"));
    opened.add(postgres);
    properties.addAll(TwoInstances.database(postgres));
    properties.add("mortise.ttl=" + TTL.toMillis() + "ms");
  }

  @AfterEach
  void stop() throws Exception {
    for (int i = opened.size() - 1; i >= 0; i--) {
      opened.get(i).close();
    }
    opened.clear();
    properties.clear();
  }

  /**
   * The tool passes the store to its command in {@code MORTISE_STORE}, which is no property of the
   * starter.
   */
  @Test
  void givenMortiseRun_whenItsCommandIsTheShop_thenItStartsAndKeepsItsOwnStore() throws Exception {
    RedisServer redis =
        RedisServer.start(TestPrerequisites.required(RedisServer.bundled(), "Redis"));
    opened.add(redis);
    Instance shop = Instance.startUnderLock(redis.url(), "shop", folder, properties);
    opened.add(shop);
    awaitUp(shop);
    assertThat(shop.send("GET", "/actuator/locks").body()).contains("postgresql");
    try (LockClient client = LockClient.connect(redis.url())) {
      assertThat(client.lock("shop").tryAcquire()).as("the tool holds the lock").isEmpty();
    }
  }

  /** Environment, probes and grace are those of {@code deploy/deployment.yaml}. */
  @Test
  @Tag("extended")
  void givenDeployment_whenTheShopIsTerminated_thenProbesHaveAnswered_andItsLocksAreFreeInTime()
      throws Exception {
    RedisServer redis =
        RedisServer.start(TestPrerequisites.required(RedisServer.bundled(), "Redis"));
    opened.add(redis);
    Properties yaml = DeploymentFiles.yaml(DeploymentFiles.text("deployment.yaml"));
    Map<String, String> environment = DeploymentFiles.environment(yaml);
    environment.put("MORTISE_URL", redis.url());
    environment.put("SPRING_DATASOURCE_URL", postgres.address());
    environment.put("SPRING_DATASOURCE_PASSWORD", PostgresServer.PASSWORD);
    List<String> user = List.of("spring.datasource.username=" + PostgresServer.USER);
    Instance shop = Instance.start("pod", folder, user, environment);
    opened.add(shop);
    awaitUp(shop);
    String pod = "spec.template.spec.";
    for (String probe : List.of("startup", "liveness", "readiness")) {
      String path = yaml.getProperty(pod + "containers[0]." + probe + "Probe.httpGet.path");
      HttpResponse<String> answer = shop.send("GET", path);
      assertThat(answer.statusCode()).as(probe).isEqualTo(200);
      assertThat(answer.body()).doesNotContain("mortise");
    }
    try (LockClient client = LockClient.connect(redis.url())) {
      await()
          .atMost(BoundedWait.scaled(LIMIT))
          .until(
              () ->
                  client.admin().find("summary").stream()
                      .anyMatch(lock -> !lock.holders().isEmpty()));
      Duration grace = Duration.ofSeconds((int) yaml.get(pod + "terminationGracePeriodSeconds"));
      assertThat(shop.terminate(grace)).as(shop.log()).isTrue();
      client.lock("summary").tryAcquire().orElseThrow().close();
    }
  }

  @Test
  void givenLocksInRedis_whenTheLeaderIsKilled_thenTheOtherGoesOnAndTheCountersAreRight()
      throws Exception {
    keepLocksInRedis();
    Instance a = start("a");
    Instance b = start("b");
    awaitUp(a, b);
    await().atMost(BoundedWait.scaled(LIMIT)).until(() -> !keeper().isEmpty());

    AtomicInteger done = new AtomicInteger();
    AtomicInteger unknown = new AtomicInteger();
    AtomicBoolean killed = new AtomicBoolean();
    ExecutorService customers = Executors.newFixedThreadPool(CUSTOMERS);
    Instance victim;
    try {
      List<Future<?>> ends = new ArrayList<>();
      for (int customer = 0; customer < CUSTOMERS; customer++) {
        List<Instance> order = customer % 2 == 0 ? List.of(a, b) : List.of(b, a);
        int product = 1 + customer / 2;
        ends.add(customers.submit(() -> buy(order, product, killed, done, unknown)));
      }
      await().atMost(BoundedWait.scaled(LIMIT)).until(() -> done.get() >= CUSTOMERS * ORDERS / 3);
      victim = keeper().equals("a") ? a : b;
      victim.kill();
      killed.set(true);
      for (Future<?> end : ends) {
        end.get(BoundedWait.scaled(LIMIT).toSeconds(), TimeUnit.SECONDS);
      }
    } finally {
      customers.shutdownNow();
    }

    Instance survivor = victim == a ? b : a;
    long sold = number("SELECT sum(quantity) FROM purchase");
    assertThat(unknown.get()).as("requests that the killed instance did not answer").isPositive();
    assertThat(sold).isBetween((long) done.get(), (long) done.get() + unknown.get());
    assertThat(number("SELECT sum(1000 - in_stock) FROM product")).as("taken").isEqualTo(sold);
    assertThat(number("SELECT count(DISTINCT instance) FROM purchase")).isEqualTo(2);
    assertThat(callsAtATime()).as("calls to the partner at a time").isEqualTo(2);
    await()
        .atMost(BoundedWait.scaled(LIMIT))
        .untilAsserted(
            () -> {
              assertThat(keeper()).isEqualTo(survivor.name());
              assertThat(survivor.send("GET", "/summary").body()).contains("\"sold\":" + sold);
            });
    assertThat(survivor.send("GET", "/actuator/prometheus").body())
        .containsPattern("mortise_acquire_seconds_count\\{[^}]*lock=\"product/[^}]*} [1-9]")
        .containsPattern("mortise_hold_seconds_count\\{[^}]*lock=\"partner\"[^}]*} [1-9]")
        .contains("mortise_holding_seconds");
    assertThat(survivor.send("GET", "/actuator/locks").body()).contains("summary");
  }

  /**
   * Places orders in turn, the last one after an instance was killed. If an instance does not
   * answer, uses the other.
   */
  private static void buy(
      List<Instance> order,
      int product,
      AtomicBoolean killed,
      AtomicInteger done,
      AtomicInteger unknown) {
    int at = 0;
    boolean last = false;
    for (int i = 0; i < ORDERS || !last; i++) {
      last = killed.get();
      try {
        int status = order.get(at).send("POST", "/orders?product=" + product).statusCode();
        assertThat(status).isEqualTo(200);
        done.incrementAndGet();
      } catch (IOException e) {
        assertThat(at).as("instances that did not answer: %s", e).isZero();
        at = 1;
        unknown.incrementAndGet();
      }
    }
  }

  @Test
  @RerunIfPaused
  void givenReportEachSecond_whenOneIsKilledAndOnePaused_thenEachTickIsReportedOnce()
      throws Exception {
    properties.add("shop.report.takes=400ms");
    Instance a = start("a");
    Instance b = start("b");
    awaitUp(a, b);
    awaitReports(3);

    Reports.Entry killed = awaitRunning();
    (killed.instance().equals("a") ? a : b).kill();
    assertThat(Reports.read(postgres.url()).of(killed.token()).finished()).isFalse();
    Instance survivor = killed.instance().equals("a") ? b : a;
    Instance c = start("c");
    awaitUp(c);
    awaitReports(2);

    Reports.Entry paused = awaitRunning();
    Instance sleeper = paused.instance().equals("c") ? c : survivor;
    pauseBeyondTtl(sleeper);
    awaitReports(4);

    Reports reports = Reports.read(postgres.url());
    assertThat(reports.violations(TTL.toSeconds() + 1)).as("%s", reports).isEmpty();
    assertThat(reports.of(paused.token()).finished()).as("the report of the paused one").isFalse();
    assertThat(reports.entries().stream().filter(entry -> !entry.finished()).count())
        .as("those that were cut off, and perhaps the one that runs")
        .isBetween(2L, 3L);
  }

  /** Two instances run at any time: a killed one is restarted. */
  @Test
  @Tag("extended")
  @RerunIfPaused
  void givenReportEachSecondForAMinute_whenOneIsKilledAndOnePaused_thenNoTickIsLostForLong()
      throws Exception {
    keepLocksInRedis();
    properties.add("shop.report.takes=400ms");
    Instance a = start("a");
    Instance b = start("b");
    awaitUp(a, b);
    awaitReports(20);

    Reports.Entry killed = awaitRunning();
    Instance survivor = killed.instance().equals("a") ? b : a;
    (survivor == a ? b : a).kill();
    Instance anew = start("anew");
    awaitUp(anew);
    awaitReports(10);

    Reports.Entry paused = awaitRunning();
    Instance sleeper = paused.instance().equals("anew") ? anew : survivor;
    pauseBeyondTtl(sleeper);
    await()
        .atMost(BoundedWait.scaled(LIMIT))
        .until(() -> Reports.read(postgres.url()).seconds() >= 60);

    Reports reports = Reports.read(postgres.url());
    assertThat(reports.violations(TTL.toSeconds() + 1)).as("%s", reports).isEmpty();
    assertThat(reports.of(killed.token()).finished()).as("that of the killed one").isFalse();
    assertThat(reports.of(paused.token()).finished()).as("that of the paused one").isFalse();
    assertThat(sleeper == anew ? survivor.log() : anew.log()).doesNotContain("LeaseLostException");
  }

  private void keepLocksInRedis() {
    RedisServer redis =
        RedisServer.start(TestPrerequisites.required(RedisServer.bundled(), "Redis"));
    opened.add(redis);
    properties.add("spring.profiles.active=redis");
    properties.add("mortise.url=" + redis.url());
  }

  /** Pauses an instance until it has learned that it lost its lease. */
  private static void pauseBeyondTtl(Instance sleeper) throws Exception {
    sleeper.pause();
    try {
      BoundedWait.pass(TTL.plusMillis(1500));
    } finally {
      sleeper.resume();
    }
    await()
        .atMost(BoundedWait.scaled(LIMIT))
        .until(() -> sleeper.log().contains("LeaseLostException"));
  }

  private Instance start(String name) throws IOException {
    Instance instance = Instance.start(name, folder, properties);
    opened.add(instance);
    return instance;
  }

  private static void awaitUp(Instance... instances) {
    for (Instance instance : instances) {
      await()
          .atMost(BoundedWait.scaled(LIMIT))
          .pollInterval(Duration.ofMillis(100))
          .until(instance::isUp);
    }
  }

  private void awaitReports(int more) {
    int before = Reports.read(postgres.url()).entries().size();
    await()
        .atMost(BoundedWait.scaled(LIMIT))
        .until(() -> Reports.read(postgres.url()).entries().size() >= before + more);
  }

  /** Waits for a report that has just begun. */
  private Reports.Entry awaitRunning() {
    int before = Reports.read(postgres.url()).entries().size();
    return await()
        .atMost(BoundedWait.scaled(LIMIT))
        .pollInterval(Duration.ofMillis(10))
        .until(
            () -> {
              Reports reports = Reports.read(postgres.url());
              return reports.entries().size() > before
                  ? reports.running()
                  : Optional.<Reports.Entry>empty();
            },
            Optional::isPresent)
        .get();
  }

  private String keeper() throws SQLException {
    return text("SELECT coalesce(max(kept_by), '') FROM summary");
  }

  /** The highest number of completed calls that ran concurrently. */
  private long callsAtATime() throws SQLException {
    return number(
        """
        SELECT max((SELECT count(*) FROM delivery other
          WHERE other.began <= this.began AND other.ended > this.began))
        FROM delivery this WHERE this.ended IS NOT NULL
        """);
  }

  private long number(String sql) throws SQLException {
    return Long.parseLong(text(sql));
  }

  private String text(String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection(postgres.url());
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      assertThat(rows.next()).isTrue();
      return rows.getString(1);
    }
  }
}
