package io.mortise.memcached;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.spi.StoreUrl;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MemcachedTargetTest {
  private static List<MemcachedTarget> parse(String url) {
    return MemcachedTarget.parse(StoreUrl.parse(url));
  }

  @Test
  void givenOneHost_thenTheDefaultsHold() {
    assertThat(parse("memcached://a"))
        .containsExactly(
            new MemcachedTarget("a", 11_211, null, "mortise", Duration.ofSeconds(5), false));
    assertThat(parse("memcached://a").get(0)).hasToString("memcached:a:11211");
  }

  @Test
  void givenAllParts_thenTheyAreFound_andThePasswordIsNotShown() {
    List<MemcachedTarget> targets =
        parse(
            "memcached://me:s3c%2Fr%40t@a:1,[::1]:2,b?namespace=shop-1&timeout=2s&accept-eviction=true");
    assertThat(targets)
        .extracting(Object::toString)
        .containsExactly("memcached:a:1", "memcached:[::1]:2", "memcached:b:11211");
    assertThat(targets)
        .allSatisfy(
            target -> {
              assertThat(target.credentials()).isEqualTo("me s3c/r@t");
              assertThat(target.prefix()).isEqualTo("mortise.shop-1");
              assertThat(target.timeout()).isEqualTo(Duration.ofSeconds(2));
              assertThat(target.acceptsEviction()).isTrue();
            });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "memcached:a",
        "memcached://",
        "memcached://a/path",
        "memcached://a,,b",
        "memcached://a:b",
        "memcached://a b"
      })
  void givenAnotherForm_thenItIsRefused(String url) {
    assertThatThrownBy(() -> parse(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("memcached://user:password@host1:11211,host2:11211");
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "memcached://a?namspace=x, Did you mean 'namespace'?",
        "memcached://a?ttl=5s, The TTL is the client's",
        "memcached://a?accept-eviction=yes, Expected true or false.",
        "memcached://a?timeout=1ms, Give 100ms to 1m.",
        "memcached://a?namespace=a:b, 'a:b' is not a namespace in memcached.",
        "memcached://a?prefix=a, Did you mean 'namespace'?",
        "memcached://a:0, is not within 1 and 65535",
        "memcached://a:65536, is not within 1 and 65535",
        "`memcached://a:11211,a`, names a server twice",
        "memcached://secret@a, no user and password",
        "memcached://me:a%20b@a, no user and password",
        "memcached://me:a%0D%0Aflush_all@a, no user and password",
      })
  void givenWrongParameter_thenItIsRefusedWithWhatToDo(String url, String message) {
    assertThatThrownBy(() -> parse(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }
}
