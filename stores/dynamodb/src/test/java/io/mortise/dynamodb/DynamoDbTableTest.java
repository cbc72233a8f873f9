package io.mortise.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.StoreUnfitException;
import io.mortise.spi.StoreUrl;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.DescribeTableResponse;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.TableStatus;

/** The table of a service that shows it late. */
class DynamoDbTableTest {
  private static final String URL = "dynamodb://eu-central-1/locks";

  private final List<String> calls = new CopyOnWriteArrayList<>();

  private static DescribeTableResponse table(TableStatus status) {
    return DescribeTableResponse.builder()
        .table(
            table ->
                table
                    .tableStatus(status)
                    .attributeDefinitions(attribute("p"), attribute("k"))
                    .keySchema(element("p", KeyType.HASH), element("k", KeyType.RANGE)))
        .build();
  }

  private static AttributeDefinition attribute(String name) {
    return AttributeDefinition.builder()
        .attributeName(name)
        .attributeType(ScalarAttributeType.S)
        .build();
  }

  private static KeySchemaElement element(String name, KeyType type) {
    return KeySchemaElement.builder().attributeName(name).keyType(type).build();
  }

  /** A client whose table is missing for three looks, then being made, then usable. */
  private DynamoDbClient client() {
    return (DynamoDbClient)
        Proxy.newProxyInstance(
            DynamoDbClient.class.getClassLoader(),
            new Class<?>[] {DynamoDbClient.class},
            (proxy, method, arguments) -> {
              calls.add(method.getName());
              if (!method.getName().equals("describeTable")) {
                return null;
              }
              long looks = calls.stream().filter("describeTable"::equals).count();
              if (looks <= 3) {
                throw ResourceNotFoundException.builder()
                    .statusCode(400)
                    .awsErrorDetails(
                        AwsErrorDetails.builder().errorCode("ResourceNotFoundException").build())
                    .build();
              }
              return table(looks == 4 ? TableStatus.CREATING : TableStatus.ACTIVE);
            });
  }

  private void open(String url) {
    DynamoDbTarget target = DynamoDbTarget.parse(StoreUrl.parse(url));
    try (DynamoDbRequests requests = new DynamoDbRequests(client(), target, "test", 1)) {
      new DynamoDbTable(requests).open();
    }
  }

  @Test
  void givenTableThatWasJustMade_whenLooksDoNotShowItYet_thenTheyAreRepeated() {
    open(URL + "?create=true");
    assertThat(calls)
        .containsExactly(
            "describeTable",
            "createTable",
            "describeTable",
            "describeTable",
            "describeTable",
            "describeTable");
  }

  @Test
  void givenTableThatNobodyMakes_whenALookDoesNotShowIt_thenItIsMissing() {
    assertThatThrownBy(() -> open(URL))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageStartingWith("Table 'locks' is missing");
    assertThat(calls).containsExactly("describeTable");
  }
}
