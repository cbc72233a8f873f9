package io.mortise.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.mortise.LockName;
import io.mortise.StoreUnfitException;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreReport.Finding;
import io.mortise.spi.StoreReport.Grade;
import io.mortise.spi.StoreUrl;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.SessionDriver;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;

/** Tables, clients of the application, and parts of requests that are sent. */
class DynamoDbAccessTest {
  private static final LockName LOCK = LockName.of("x");
  private static final Duration TTL = Duration.ofMinutes(5);

  private static DynamoDbTarget target(String url) {
    return DynamoDbTarget.parse(StoreUrl.parse(url));
  }

  private static DynamoDbClient client() {
    return DynamoDbLockStore.client(target(Dynalites.shared().url()));
  }

  private static void assertUnfit(String url, String message) {
    assertThatThrownBy(() -> DynamoDbStore.open(url).close())
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining(message);
  }

  @Test
  void givenMissingTable_thenItIsToldHow_orMade_andOneWithOtherKeysIsRefused() {
    String url = Dynalites.shared().url().replaceFirst("/[^/]*$", "/made");
    assertUnfit(url, "--table-name made ");
    try (LockStore store = DynamoDbStore.open(url + "?create=true")) {
      SessionDriver.open(store, TTL, "a").hold(LOCK, Mode.EXCLUSIVE);
    }
    DynamoDbStore.open(url).close();
    DynamoDbStore.open(url + "?create=true").close();

    try (DynamoDbClient client = client()) {
      client.createTable(
          request ->
              request
                  .tableName("other")
                  .billingMode(BillingMode.PAY_PER_REQUEST)
                  .attributeDefinitions(
                      AttributeDefinition.builder()
                          .attributeName("id")
                          .attributeType(ScalarAttributeType.S)
                          .build())
                  .keySchema(
                      KeySchemaElement.builder()
                          .attributeName("id")
                          .keyType(KeyType.HASH)
                          .build()));
    }
    assertUnfit(url.replace("/made", "/other"), "'id:S:HASH', not 'p:S:HASH k:S:RANGE'");
    assertUnfit(url.replace("/made", "/other"), "--table-name OTHER-TABLE ");
  }

  @Test
  void givenTable_whenExamined_thenItsBillingReplicasAndProtectionAreTold() {
    try (LockStore store = DynamoDbStore.open(Dynalites.shared().url())) {
      StoreReport report = BoundedWait.join(store.examine());
      assertThat(report.mode()).isEqualTo("dynamodb");
      assertThat(report.findings())
          .extracting(Finding::id)
          .containsExactly("TableStatus", "BillingMode", "Replicas", "DeletionProtection");
      assertThat(report.findings())
          .extracting(Finding::grade)
          .containsExactly(Grade.FINE, Grade.FINE, Grade.FINE, Grade.NOTE);
    }
  }

  /** Counts the methods that are called, besides those that only tell. */
  private static DynamoDbClient counted(DynamoDbClient client, List<String> calls) {
    return (DynamoDbClient)
        Proxy.newProxyInstance(
            DynamoDbClient.class.getClassLoader(),
            new Class<?>[] {DynamoDbClient.class},
            (proxy, method, arguments) -> {
              if (!method.getName().equals("serviceClientConfiguration")) {
                calls.add(method.getName());
              }
              try {
                return method.invoke(client, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @Test
  void givenLockThatThisProcessUsedLast_thenAcquireAndReleaseAreOneWriteEach() {
    List<String> calls = new CopyOnWriteArrayList<>();
    try (DynamoDbClient client = client()) {
      LockStore store =
          DynamoDbStore.over(
              counted(client, calls), "locks", "poll=1m&namespace=" + Dynalites.namespace());
      assertThat(calls).as("rights").containsSubsequence("putItem", "query", "deleteItem");
      SessionDriver a = SessionDriver.open(store, TTL, "a");
      calls.clear();
      AttemptId first = a.hold(LOCK, Mode.EXCLUSIVE).attempt();
      assertThat(calls).as("of a lock that was never met").containsExactly("getItem", "putItem");
      a.end(LOCK, first);
      calls.clear();
      a.end(LOCK, a.hold(LOCK, Mode.EXCLUSIVE).attempt());
      assertThat(calls).containsExactly("putItem", "putItem");
      a.renew();
      assertThat(calls).as("a renewal").hasSize(3);
      calls.clear();
      store.close();
      assertThat(calls).doesNotContain("close");
      assertThat(client.listTables().tableNames()).as("the client is open").contains("locks");
      assertThatThrownBy(() -> DynamoDbStore.over(client, "absent", ""))
          .hasMessageContaining("--endpoint-url http://127.0.0.1:");
    }
  }

  private static boolean write(DynamoDbDocuments documents) {
    VersionedText found = new VersionedText("a", "1");
    return BoundedWait.join(documents.compareAndSet("lock/a", found, "b")).made();
  }

  /** Its second try would meet what the first has written. */
  @Test
  void givenAnswerThatIsLost_orAServerError_thenAWriteIsSentOnce() throws Exception {
    Dynalites.credentials();
    AtomicInteger sent = new AtomicInteger();
    HttpServer stub =
        Dynalites.stub(
            exchange -> {
              exchange.getRequestBody().readAllBytes();
              int number = sent.incrementAndGet();
              if (number == 2) {
                // Ends the connection that was kept after the first request.
                exchange.close();
              } else {
                byte[] body = "{}".getBytes(StandardCharsets.UTF_8);
                exchange.getResponseHeaders().add("x-amzn-RequestId", "1");
                exchange.sendResponseHeaders(number == 1 ? 200 : 500, body.length);
                exchange.getResponseBody().write(body);
                exchange.close();
              }
            });
    DynamoDbTarget target = target(Dynalites.url(stub));
    DynamoDbClient client = DynamoDbLockStore.client(target);
    DynamoDbRequests requests = new DynamoDbRequests(client, target, "test", 1);
    DynamoDbDocuments documents =
        new DynamoDbDocuments(requests, new AbsentVersions(() -> 0), () -> 0);
    try {
      assertThat(write(documents)).isTrue();
      assertThatThrownBy(() -> write(documents)).hasMessageContaining("StoreUnavailableException");
      assertThat(sent).as("after a lost answer").hasValue(2);
      assertThatThrownBy(() -> write(documents))
          .hasMessageContaining("StoreUnavailableException")
          .hasMessageContaining("status=500");
      assertThat(sent).as("after a server error").hasValue(3);
      assertThatThrownBy(() -> client.listTables(request -> {})).isNotNull();
      assertThat(sent.get()).as("the client's own retries, the control").isGreaterThan(4);
    } finally {
      documents.close();
      client.close();
      stub.stop(0);
    }
  }

  @Test
  void givenPagesInPlaceOfAnswers_thenOpeningSaysSo() throws Exception {
    Dynalites.credentials();
    HttpServer stub =
        Dynalites.stub(
            exchange -> {
              exchange.getRequestBody().readAllBytes();
              byte[] body = "<html>Sign in</html>".getBytes(StandardCharsets.UTF_8);
              exchange.sendResponseHeaders(200, body.length);
              exchange.getResponseBody().write(body);
              exchange.close();
            });
    try {
      assertUnfit(Dynalites.url(stub), "the answer is not JSON");
    } finally {
      stub.stop(0);
    }
  }

  @Test
  void givenServerThatIsNotDynamoDb_thenOpeningAndReadingSaySo() throws Exception {
    Dynalites.credentials();
    HttpServer stub =
        Dynalites.stub(
            exchange -> {
              exchange.getRequestBody().readAllBytes();
              boolean reads =
                  exchange.getRequestHeaders().getFirst("X-Amz-Target").endsWith("GetItem");
              byte[] body = "{}".getBytes(StandardCharsets.UTF_8);
              exchange.sendResponseHeaders(reads ? 200 : 404, body.length);
              exchange.getResponseBody().write(body);
              exchange.close();
            });
    DynamoDbTarget target = target(Dynalites.url(stub));
    try (DynamoDbClient client = DynamoDbLockStore.client(target)) {
      assertUnfit(Dynalites.url(stub), "What answers is not DynamoDB");
      DynamoDbRequests requests = new DynamoDbRequests(client, target, "test", 1);
      DynamoDbDocuments documents =
          new DynamoDbDocuments(requests, new AbsentVersions(() -> 0), () -> 0);
      assertThatThrownBy(() -> BoundedWait.join(documents.read("lock/x")))
          .hasMessageContaining("StoreUnfitException")
          .hasMessageContaining("What answers is not DynamoDB");
      documents.close();
    } finally {
      stub.stop(0);
    }
  }
}
