package io.mortise.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.spi.StoreUrl;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DynamoDbTargetTest {
  private static DynamoDbTarget parse(String url) {
    return DynamoDbTarget.parse(StoreUrl.parse(url));
  }

  @Test
  void givenRegionAndTable_thenTheDefaultsHold() {
    DynamoDbTarget target = parse("dynamodb://eu-central-1/locks");
    assertThat(target.endpoint()).isNull();
    assertThat(target.region()).isEqualTo("eu-central-1");
    assertThat(target.table()).isEqualTo("locks");
    assertThat(target.prefix()).isEmpty();
    assertThat(target.timeout()).isEqualTo(Duration.ofSeconds(5));
    assertThat(target.poll()).isEqualTo(Duration.ofMillis(500));
    assertThat(target.create()).isFalse();
    assertThat(target).hasToString("dynamodb:eu-central-1/locks");
  }

  @Test
  void givenEndpoint_thenAllParametersAreFound() {
    DynamoDbTarget target =
        parse(
            "dynamodb://vpce-1.example:443/my_locks.1?namespace=shop&timeout=2s&poll=2s&create=true&tls=true&region=us-gov-west-1");
    assertThat(target.endpoint()).isEqualTo(URI.create("https://vpce-1.example:443"));
    assertThat(target.region()).isEqualTo("us-gov-west-1");
    assertThat(target.prefix()).isEqualTo("shop/");
    assertThat(target.timeout()).isEqualTo(Duration.ofSeconds(2));
    assertThat(target.poll()).isEqualTo(Duration.ofSeconds(2));
    assertThat(target.create()).isTrue();
    assertThat(target).hasToString("dynamodb:vpce-1.example:443/my_locks.1");
    assertThat(parse("dynamodb://[::1]:8000/locks").endpoint())
        .isEqualTo(URI.create("http://[::1]:8000"));
  }

  @Test
  void givenEndpointWithoutARegion_thenThatOfTheEnvironmentIsSignedFor() {
    StoreUrl url = StoreUrl.parse("dynamodb://a:1/locks");
    assertThat(DynamoDbTarget.parse(url, Map.of()).region()).isEqualTo("us-east-1");
    Map<String, String> environment =
        Map.of("AWS_REGION", "eu-west-1", "AWS_DEFAULT_REGION", "eu-west-2");
    assertThat(DynamoDbTarget.parse(url, environment).region()).isEqualTo("eu-west-1");
    assertThat(
            DynamoDbTarget.parse(url, Map.of("AWS_REGION", "", "AWS_DEFAULT_REGION", "eu-west-2"))
                .region())
        .isEqualTo("eu-west-2");
    assertThatThrownBy(() -> DynamoDbTarget.parse(url, Map.of("AWS_REGION", "local")))
        .hasMessageContaining("'local' is not a region")
        .hasMessageContaining("AWS_REGION");
    StoreUrl given = StoreUrl.parse("dynamodb://a:1/locks?region=eu-west-3");
    assertThat(DynamoDbTarget.parse(given, environment).region()).isEqualTo("eu-west-3");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "dynamodb:locks",
        "dynamodb://locks",
        "dynamodb://localhost/locks",
        "dynamodb://eu-central-1",
        "dynamodb://eu-central-1/",
        "dynamodb://eu-central-1/ab",
        "dynamodb://eu-central-1/a/b",
        "dynamodb://eu-central-1/locks!",
        "dynamodb://key:s3cret@eu-central-1/locks",
        "dynamodb://s3cret@host:8000/locks"
      })
  void givenAnotherForm_thenItIsRefused(String url) {
    assertThatThrownBy(() -> parse(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("dynamodb://eu-central-1/locks")
        .hasMessageContaining("dynamodb://host:8000/locks")
        .hasMessageContaining("3 to 255 of the characters")
        .hasMessageNotContaining("s3cret");
    // The hint shows a URL.
    assertThat(parse("dynamodb://host:8000/locks").table()).isEqualTo("locks");
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "dynamodb://eu-west-1/locks?namespaces=x, Did you mean 'namespace'?",
        "dynamodb://eu-west-1/locks?tls=true, Unknown parameter 'tls'",
        "dynamodb://a:1/locks?ca=/etc/ca.pem, Add tls=true.",
        "dynamodb://a:1/locks?namespace=a.b, 'a.b' is not a namespace in dynamodb.",
        "dynamodb://a:1/locks?poll=5ms, Give 20ms to 1m",
        "dynamodb://a:1/locks?timeout=1ms, Parameter 'timeout'",
        "dynamodb://my_host:1/locks, 'my_host:1' in store URL",
        "dynamodb://a:1/locks?region=eu, 'eu' is not a region",
        "dynamodb://a:99999/locks, Port 99999 in store URL",
      })
  void givenWrongParameter_thenItIsRefusedWithWhatToDo(String url, String message) {
    assertThatThrownBy(() -> parse(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @Test
  void givenClientThatIsThere_thenItsRegionIsShown_andItsTableIsChecked() {
    DynamoDbTarget target = DynamoDbTarget.parse("local", "locks", "namespace=shop", null);
    assertThat(target.prefix()).isEqualTo("shop/");
    assertThat(target).hasToString("dynamodb:local/locks");
    assertThatThrownBy(() -> DynamoDbTarget.parse("local", "a table", "", null))
        .hasMessageContaining(
            "'a table' cannot be the name of a table. A table's name has 3 to 255");
    assertThatThrownBy(() -> DynamoDbTarget.parse("local", "locks", "tls=true", null))
        .hasMessageContaining("Unknown parameter 'tls'");
  }
}
