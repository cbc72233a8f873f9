package io.mortise.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreReport.Grade;
import io.mortise.spi.StoreUrl;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.support.document.VersionedDocuments.Written;
import io.mortise.testkit.BoundedWait;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** Answers that the emulator does not give. */
class DynamoDbAnswersTest {
  private static final VersionedText FOUND = new VersionedText("x", "6");

  private HttpServer stub;
  private DynamoDbClient client;
  private DynamoDbRequests requests;
  private DynamoDbDocuments documents;

  private volatile int status = 200;
  private volatile String answer = "{}";
  private volatile boolean signs;

  @BeforeEach
  void start() throws Exception {
    Dynalites.credentials();
    stub =
        Dynalites.stub(
            exchange -> {
              exchange.getRequestBody().readAllBytes();
              byte[] body = answer.getBytes(StandardCharsets.UTF_8);
              if (signs) {
                exchange.getResponseHeaders().add("x-amzn-RequestId", "1");
              }
              exchange.sendResponseHeaders(status, body.length);
              exchange.getResponseBody().write(body);
              exchange.close();
            });
    DynamoDbTarget target = DynamoDbTarget.parse(StoreUrl.parse(Dynalites.url(stub)));
    client = DynamoDbLockStore.client(target);
    requests = new DynamoDbRequests(client, target, "test", 1);
    documents = new DynamoDbDocuments(requests, new AbsentVersions(() -> 0), () -> 0);
  }

  @AfterEach
  void end() {
    documents.close();
    client.close();
    stub.stop(0);
  }

  private Written write() {
    return BoundedWait.join(documents.compareAndSet("lock/x", FOUND, "y"));
  }

  @Test
  void givenEmptyAnswer_thenItIsTakenForAWriteOnlyIfDynamoDbGaveIt() {
    String proxy = "a proxy before it leaves out its headers";
    assertThatThrownBy(this::write).hasMessageContaining(proxy);
    assertThatThrownBy(() -> BoundedWait.join(documents.scan("lock/", "", 10)))
        .hasMessageContaining(proxy);
    assertThatThrownBy(() -> BoundedWait.join(documents.read("lock/x")))
        .hasMessageContaining(proxy);
    signs = true;
    assertThat(write().made()).isTrue();
  }

  @Test
  void givenRefusedWrite_thenTheItemThatStandsIsTakenFromTheRefusal() {
    signs = true;
    status = 400;
    answer =
        "{\"__type\":\"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException\",\"Item\":{\"p\":{\"S\":\"lock\"},\"k\":{\"S\":\"x\"},\"v\":{\"N\":\"7\"},\"t\":{\"S\":\"z\"}}}";
    assertThat(write()).isEqualTo(new Written(false, new VersionedText("z", "7")));
  }

  @Test
  void givenCursorOutsideOfThePrefix_thenTheListBeginsOrEndsThere() {
    signs = true;
    answer = "{\"Count\":1,\"Items\":[{\"k\":{\"S\":\"b\"}}]}";
    assertThat(BoundedWait.join(documents.scan("lock/b", "lock/zzz", 10))).isEmpty();
    assertThat(BoundedWait.join(documents.scan("lock/b", "lock/a", 10))).containsExactly("lock/b");
  }

  /** The emulator knows one region only. */
  @ParameterizedTest
  @CsvSource({"EVENTUAL, WEAK", "STRONG, NOTE"})
  void givenGlobalTable_whenExamined_thenItIsWeak_unlessItsRegionsCompareTheirWrites(
      String consistency, Grade grade) {
    signs = true;
    answer =
        "{\"Table\":{\"TableStatus\":\"ACTIVE\",\"MultiRegionConsistency\":\"%s\",\"Replicas\":[{\"RegionName\":\"eu-west-1\"},{\"RegionName\":\"us-east-1\"}]}}"
            .formatted(consistency);
    StoreReport report = BoundedWait.join(new DynamoDbTable(requests).examine());
    assertThat(report.findings())
        .filteredOn(finding -> finding.id().equals("Replicas"))
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.grade()).isEqualTo(grade);
              assertThat(finding.value()).isEqualTo("eu-west-1, us-east-1");
            });
  }
}
