package io.mortise.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.spi.StoreUrl;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EtcdTargetTest {
  private static EtcdTarget parse(String url) {
    return EtcdTarget.parse(StoreUrl.parse(url));
  }

  @Test
  void givenOneHost_thenTheDefaultsHold() {
    EtcdTarget target = parse("etcd://a");
    assertThat(target.http().servers()).containsExactly(URI.create("http://a:2379"));
    assertThat(target.user()).isNull();
    assertThat(target.http().timeout()).isEqualTo(Duration.ofSeconds(5));
    assertThat(target.prefix()).isEqualTo("/mortise//");
    assertThat(target).hasToString("etcd:a:2379");
  }

  @Test
  void givenAllParts_thenTheyAreFound_andThePasswordIsNotShown() {
    EtcdTarget target =
        parse("etcd://me:s3c%2Fr%40t@a:1,[::1]:2,b?namespace=shop&timeout=2s&tls=true");
    assertThat(target.http().servers())
        .containsExactly(
            URI.create("https://a:1"), URI.create("https://[::1]:2"), URI.create("https://b:2379"));
    assertThat(target.user()).isEqualTo("me");
    assertThat(target.password()).isEqualTo("s3c/r@t");
    assertThat(target.prefix()).isEqualTo("/mortise/shop/");
    assertThat(target.http().timeout()).isEqualTo(Duration.ofSeconds(2));
    assertThat(target.http().isTls()).isTrue();
    assertThat(target).hasToString("etcd:a:1,[::1]:2,b:2379");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"etcd:a", "etcd://", "etcd://a/path", "etcd://a,,b", "etcd://a:b", "etcd://a b"})
  void givenAnotherForm_thenItIsRefused(String url) {
    assertThatThrownBy(() -> parse(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("etcd://user:password@host1:2379,host2:2379");
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "etcd://a?namespaces=x, Did you mean 'namespace'?",
        "etcd://a?ttl=5s, The TTL is the client's",
        "etcd://a?ca=/etc/ca.pem, Add tls=true.",
        "etcd://a?tls=yes, Expected true or false.",
        "etcd://a?tls=true&ca=/nowhere/ca.pem, Cannot read '/nowhere/ca.pem'",
        "etcd://a?timeout=5, Parameter 'timeout'",
        "etcd://a?timeout=1ms, Give 100ms to 1m.",
        "etcd://a?namespace=a/b, 'a/b' is not a namespace in etcd.",
        "etcd://me@a, needs a user and a password",
        "etcd://[a::b::c]:1, '[a::b::c]:1' in store URL",
        "etcd://a:65536, is not within 1 and 65535",
      })
  void givenWrongParameter_thenItIsRefusedWithWhatToDo(String url, String message) {
    assertThatThrownBy(() -> parse(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }
}
