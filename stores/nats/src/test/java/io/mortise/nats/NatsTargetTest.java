package io.mortise.nats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.spi.StoreUrl;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NatsTargetTest {
  private static NatsTarget parse(String url) {
    return NatsTarget.parse(StoreUrl.parse(url));
  }

  @Test
  void givenOneHost_thenTheDefaultsHold() {
    NatsTarget target = parse("nats://a");
    assertThat(target.servers().servers()).containsExactly("a:4222");
    assertThat(target.servers().user()).isNull();
    assertThat(target.servers().secret()).isNull();
    assertThat(target.timeout()).isEqualTo(Duration.ofSeconds(5));
    assertThat(target.bucket()).isEqualTo("mortise");
    assertThat(target).hasToString("nats:a:4222");
  }

  @Test
  void givenAllParts_thenTheyAreFound_andThePasswordIsNotShown() {
    NatsTarget target =
        parse("nats://me:s3c%2Fr%40t@a:1,[::1]:2,b?namespace=shop-1&timeout=2s&tls=true");
    assertThat(target.servers().servers()).containsExactly("a:1", "[::1]:2", "b:4222");
    assertThat(target.servers().user()).isEqualTo("me");
    assertThat(target.servers().secret()).isEqualTo("s3c/r@t");
    assertThat(target.bucket()).isEqualTo("mortise-shop-1");
    assertThat(target.timeout()).isEqualTo(Duration.ofSeconds(2));
    assertThat(target.tls()).isTrue();
    assertThat(target).hasToString("nats:a:1,[::1]:2,b:4222");
  }

  @Test
  void givenToken_thenItIsNoUser_andIsNotShown() {
    NatsTarget target = parse("nats://s3cret@a");
    assertThat(target.servers().user()).isNull();
    assertThat(target.servers().secret()).isEqualTo("s3cret");
    assertThat(target).hasToString("nats:a:4222");
    assertThatThrownBy(() -> parse("nats://s3cret@a?nkeys=x")).hasMessageNotContaining("s3cret");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"nats:a", "nats://", "nats://a/path", "nats://a,,b", "nats://a:b", "nats://a b"})
  void givenAnotherForm_thenItIsRefused(String url) {
    assertThatThrownBy(() -> parse(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("nats://user:password@host1:4222,host2:4222");
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "nats://a?namespaces=x, Did you mean 'namespace'?",
        "nats://a?ttl=5s, The TTL is the client's",
        "nats://a?ca=/etc/ca.pem, Add tls=true.",
        "nats://a?tls=yes, Expected true or false.",
        "nats://a?tls=true&ca=/nowhere/ca.pem, Cannot read '/nowhere/ca.pem'",
        "nats://a?nkey=/nowhere/seed, Cannot read '/nowhere/seed'",
        "`nats://a,my_host`, 'my_host:4222' in store URL",
        "nats://my_host, and no underscore",
        "nats://a?timeout=5, Parameter 'timeout'",
        "nats://a?timeout=1ms, Give 100ms to 1m.",
        "nats://a?namespace=a.b, 'a.b' is not a namespace in nats.",
        "nats://me:x@a?credentials=/dev/null, logs in twice",
      })
  void givenWrongParameter_thenItIsRefusedWithWhatToDo(String url, String message) {
    assertThatThrownBy(() -> parse(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @Test
  void givenConnectionThatIsThere_thenOnlyWhatIsNotItsOwnIsTaken() {
    NatsTarget target = NatsTarget.parse("nats:a:4222", "namespace=shop&timeout=2s");
    assertThat(target.bucket()).isEqualTo("mortise-shop");
    assertThat(NatsTarget.parse("nats:a:4222", "").bucket()).isEqualTo("mortise");
    assertThatThrownBy(() -> NatsTarget.parse("nats:a:4222", "tls=true"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Unknown parameter 'tls'");
  }
}
