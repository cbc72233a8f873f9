package io.mortise.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.spi.StoreUrl;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConsulTargetTest {
  private static ConsulTarget parse(String url) {
    return ConsulTarget.parse(StoreUrl.parse(url));
  }

  @Test
  void givenOneHost_thenTheDefaultsHold() {
    ConsulTarget target = parse("consul://a");
    assertThat(target.http().servers()).containsExactly(URI.create("http://a:8500"));
    assertThat(target.token()).isNull();
    assertThat(target.http().timeout()).isEqualTo(Duration.ofSeconds(5));
    assertThat(target.prefix()).isEqualTo("mortise/");
    assertThat(target).hasToString("consul:a:8500");
  }

  @Test
  void givenAllParts_thenTheyAreFound_andTheTokenIsNotShown() {
    ConsulTarget target =
        parse("consul://s3c%2Fr%40t@a:1,[::1]:2,b?namespace=shop&timeout=2s&tls=true");
    assertThat(target.http().servers())
        .containsExactly(
            URI.create("https://a:1"), URI.create("https://[::1]:2"), URI.create("https://b:8501"));
    assertThat(target.token()).isEqualTo("s3c/r@t");
    assertThat(target.prefix()).isEqualTo("mortise-shop/");
    assertThat(target.http().timeout()).isEqualTo(Duration.ofSeconds(2));
    assertThat(target).hasToString("consul:a:1,[::1]:2,b:8501");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"consul:a", "consul:a:8500", "consul://", "consul://a:8500/ns", "consul://a,,b"})
  void givenAnotherForm_thenItIsRefused(String url) {
    assertThatThrownBy(() -> parse(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("consul://token@host1:8500,host2:8500, without token@ if")
        .hasMessageNotContaining("user");
    // The hint shows a URL.
    assertThat(parse("consul://token@host1:8500,host2:8500").token()).isEqualTo("token");
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "consul://a?namespaces=x, Did you mean 'namespace'?",
        "consul://a?ttl=5s, The TTL is the client's",
        "consul://a?ca=/etc/ca.pem, Add tls=true.",
        "consul://a?tls=true&ca=/nowhere/ca.pem, Cannot read '/nowhere/ca.pem'",
        "consul://a?namespace=a.b, 'a.b' is not a namespace in consul.",
        "consul://me:s3cret@a, Write consul://token@host:8500.",
        "consul://s3c%0Aret@a, Write consul://token@host:8500.",
        "consul://@a, Write consul://token@host:8500.",
        "consul://[a::b::c]:1, '[a::b::c]:1' in store URL",
        "consul://s3c%zzr3t@a, special characters as %XX",
      })
  void givenWrongParameter_thenItIsRefusedWithWhatToDo(String url, String message) {
    assertThatThrownBy(() -> parse(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message)
        .hasMessageNotContaining("s3c");
  }
}
