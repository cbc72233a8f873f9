package io.mortise.support.internal.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.spi.StoreUrl;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPairGenerator;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ServerUrlTest {
  private static ServerUrl parse(String url) {
    return ServerUrl.parse(StoreUrl.parse(url), 1, "token");
  }

  @ParameterizedTest
  @ValueSource(strings = {"s3cr%zzr3t@a", "s3cr3t%2@a", "me:s3cr%zzr3t@a"})
  void givenSecretWithAWrongEscape_thenTheUrlIsRefused_andNothingShowsTheSecret(String rest) {
    assertThatThrownBy(() -> parse("consul://" + rest))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("special characters as %XX")
        .hasMessageNotContaining("s3c")
        .hasMessageNotContaining("zz")
        .hasNoCause();
  }

  @ParameterizedTest
  @ValueSource(strings = {"consul", "etcd", "memcached", "nats"})
  void givenPlusInUserAndPassword_thenItIsAPlus(String scheme) {
    ServerUrl url = parse(scheme + "://m+e:p+a%2Bs%20s@h");
    assertThat(url.user()).isEqualTo("m+e");
    assertThat(url.secret()).isEqualTo("p+a+s s");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a:0", "a:65536", "b,a:99999"})
  void givenPortThatIsNone_thenItIsRefused(String servers) {
    assertThatThrownBy(() -> parse("consul://" + servers))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("is not within 1 and 65535");
  }

  @ParameterizedTest
  @CsvSource({"'a,my_host:8500', my_host:8500", "a..b, a..b:1", "host.1, host.1:1"})
  void givenHostThatNoUriHas_thenALibraryThatAsksForItIsNotGivenIt_andOurOwnClientIs(
      String servers, String shown) {
    StoreUrl url = StoreUrl.parse("consul://" + servers);
    assertThatThrownBy(() -> parse("consul://" + servers).urisWithHost(url, false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'" + shown + "' in store URL 'consul://" + servers + "'")
        .hasMessageContaining("no underscore");
    assertThat(parse("consul://" + servers).uris(url, false))
        .contains(URI.create("http://" + shown));
  }

  @Test
  void givenKeyInPlaceOfTrustedCertificates_thenItIsRefusedByName(@TempDir Path folder)
      throws Exception {
    String key =
        Base64.getMimeEncoder()
            .encodeToString(
                KeyPairGenerator.getInstance("EC").generateKeyPair().getPrivate().getEncoded());
    for (String text :
        List.of(
            "",
            "no PEM",
            "-----BEGIN PRIVATE KEY-----\n" + key + "\n-----END PRIVATE KEY-----\n")) {
      Path file = Files.writeString(folder.resolve("ca.pem"), text);
      StoreUrl url = StoreUrl.parse("consul://a?tls=true&ca=" + file.toUri().getRawPath());
      assertThatThrownBy(() -> ServerUrl.trusted(url, true))
          .as(text)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("'" + file + "', the parameter 'ca' of store URL")
          .hasMessageNotContaining(key.substring(0, 9));
    }
  }

  @Test
  void givenHosts_thenTheyAreServersOfHttp() {
    StoreUrl url = StoreUrl.parse("consul://a-b.c:65535,10.0.0.1,[fe80::1%1]:2");
    assertThat(ServerUrl.parse(url, 8500, "token").uris(url, true))
        .containsExactly(
            URI.create("https://a-b.c:65535"),
            URI.create("https://10.0.0.1:8500"),
            URI.create("https://[fe80::1%1]:2"));
  }
}
