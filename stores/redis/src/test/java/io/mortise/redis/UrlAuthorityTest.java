package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.mortise.spi.StoreUrl;
import org.junit.jupiter.api.Test;

class UrlAuthorityTest {
  private static final String EXAMPLE = "redis-cluster://user:password@a:1,b:2";

  private static UrlAuthority parse(String url) {
    return UrlAuthority.parse(StoreUrl.parse(url), 6379, EXAMPLE);
  }

  @Test
  void givenEscapes_whenParsed_thenTheyAreDecoded() {
    UrlAuthority found = parse("redis-cluster://u%40:p%2F+@a,b:7");
    assertThat(found.user()).isEqualTo("u@");
    assertThat(found.password()).isEqualTo("p/+");
    assertThat(found.hosts()).hasToString("[a:6379, b:7]");
  }

  @Test
  void givenPasswordWithAWrongEscape_thenItIsRefused_andNotShown() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> parse("redis-cluster://user:s3cr%zzr3t@a,b"))
        .withMessageContaining(EXAMPLE)
        .withMessageNotContainingAny("zz", "s3cr")
        .withNoCause();
  }
}
