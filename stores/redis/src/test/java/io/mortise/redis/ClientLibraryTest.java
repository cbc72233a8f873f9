package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.redis.transport.TransportProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Store URLs that ask for a client library whose artifact is not there. */
class ClientLibraryTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://localhost?wire=lettuce",
        "rediss://localhost?wire=lettuce",
        "redis-plain://localhost?wire=lettuce",
        "redis-sharded://one,two?wire=lettuce"
      })
  void givenNoArtifactOfLettuce_whenAUrlAsksForIt_thenTheRefusalNamesIt(String url) {
    assertThatThrownBy(() -> RedisStore.open(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Add the artifact mortise-redis-lettuce");
  }

  @Test
  void givenNameThatNoLibraryHas_thenNoneIsFound() {
    assertThat(TransportProvider.find("pigeon")).isEmpty();
    assertThatThrownBy(() -> RedisStore.open("redis://localhost?wire=pigeon"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Expected direct or lettuce");
  }
}
