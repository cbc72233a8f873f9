package io.mortise.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class StoreUrlTest {
  @ParameterizedTest
  @CsvSource({
    "redis://localhost:6379/2?namespace=a, redis, redis://localhost:6379/2",
    "jdbc:sqlite:/tmp/x.db, jdbc:sqlite, jdbc:sqlite:/tmp/x.db",
    "jdbc:h2:mem:x;MODE=LEGACY?create=false, jdbc:h2, jdbc:h2:mem:x;MODE=LEGACY",
    "mem:, mem, mem:"
  })
  void givenUrl_whenParsed_thenSchemeAndBase(String url, String scheme, String base) {
    StoreUrl parsed = StoreUrl.parse(url);
    assertThat(parsed.scheme()).isEqualTo(scheme);
    assertThat(parsed.base()).isEqualTo(base);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "localhost",
        "://x",
        "jdbc:x",
        "redis://h?a",
        "redis://h?=1",
        "redis://h?a=1&a=2"
      })
  void givenWrongUrl_whenParsed_thenRefused(String url) {
    assertThatIllegalArgumentException().isThrownBy(() -> StoreUrl.parse(url));
  }

  /** As before the host, where each store decodes. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "consul://h",
        "dynamodb://h",
        "etcd://h",
        "jdbc:h2:mem:x",
        "jdbc:mariadb://h/d",
        "jdbc:mysql://h/d",
        "jdbc:postgresql://h/d",
        "jdbc:sqlite:x",
        "memcached://h",
        "nats://h",
        "quorum:redis://a,redis://b,redis://c",
        "redis://h",
        "redis-cluster://h",
        "redis-plain://h",
        "redis-sentinel://h/m",
        "zk://h",
        "zk+curator://h"
      })
  void givenPlusInAParameter_thenItIsAPlus_alsoWhenItIsHandedOn(String base) {
    StoreUrl url = StoreUrl.parse(base + "?password=p+a%2Bs%20s%25+&user=a+b");
    StoreUrl handedOn = StoreUrl.parse(base + "?" + url.parametersExcept("user"));
    assertThat(url.parameter("user")).isEqualTo("a+b");
    assertThat(url.parameter("password")).isEqualTo("p+a+s s%+");
    assertThat(handedOn.parameter("password")).isEqualTo("p+a+s s%+");
    assertThat(handedOn.parameter("user")).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"redis://h?password=s3%zzcret", "redis://h?paswsord=s3cret%2"})
  void givenSecretWithAWrongEscape_whenParsed_thenItIsNotShown(String url) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> StoreUrl.parse(url))
        .withMessageContaining(
            "is not name=value. Special characters of a value are written as %XX.")
        .withMessageNotContaining("cret")
        .withMessageNotContaining("zz")
        .withNoCause();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://:s3cret@host",
        "redis://me:s3cret@host:1/0?namespace=x",
        "redis://me:s3cret@@host",
        "redis://me:s3c/ret@host",
        "redis://s3cret@host",
        "consul://s3c@ret@host:8500",
        "quorum:redis://a,redis://s3c/ret@b",
        "redis-sentinel://h/m?sentinel-password=s3cret",
        "zk://h?keystore-password=s3cret&tls=true",
        "jdbc:h2:tcp://h/x;USER=sa;PASSWORD=s3cret",
        "jdbc:h2:mem:x?password=s3cret&a=b",
        "jdbc:db2://h:50000/d:password=s3cret;user=u;",
        "jdbc:teradata://h/USER=u,PASSWORD=s3cret",
        "x://h?pwd=s3cret",
        "redis:me:s3cret@host",
        "redis:/me:s3cret@host",
        "me:s3cret@host:6379",
        "jdbc:mariadb:me:s3c/ret@host:3306/app"
      })
  void givenSecret_whenShown_thenHidden(String url) {
    assertThat(StoreUrl.parse(url).toString())
        .doesNotContain("s3c")
        .doesNotContain("cret")
        .contains("***");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "jdbc:sqlite:/home/me@corp/a:b@c.db",
        "jdbc:sqlite:C:/locks@corp.db",
        "jdbc:sqlite:/a/me:x@corp.db",
        "jdbc:h2:tcp://host/x",
        "jdbc:h2:file:/home/me/x",
        "quorum:redis://a,redis://b"
      })
  void givenUrlWithoutSecret_whenShown_thenAsItIs(String url) {
    assertThat(StoreUrl.parse(url)).hasToString(url);
  }

  @Test
  void givenMisspeltPassword_whenRefused_thenMessageHidesIt() {
    StoreUrl url = StoreUrl.parse("redis://h?timeout=2s&pasword=s3cret&x=y");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> url.allowOnly(Set.of("timeout", "password")))
        .withMessageContaining("'redis://h?timeout=2s&pasword=***&x=***'");
  }

  @Test
  void givenSecretInWrongUrl_whenRefused_thenMessageHidesIt() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> StoreUrl.parse("redis://u:s3cret@h?a"))
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("s3cret"));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> StoreUrl.parse("://u:s3cret@h"))
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("s3cret"));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> StoreUrl.parse("x://h?password=s3&cret"))
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("cret"));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> StoreUrl.parse("jdbc:x://h/app?password=a;b#c@d:e?&f&user=me"))
        .withMessageContaining("'jdbc:x://h/app?…'");
  }

  @Test
  void givenPasswordWithQuestionMark_whenParsed_thenRefusedWithoutShowingIt() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> StoreUrl.parse("redis://me:s3c?re=t@host"))
        .withMessageContaining("%3F")
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("s3c").doesNotContain("re=t"));
  }

  @Test
  void givenUnknownParameter_whenChecked_thenRefusedWithTheKnownOnes() {
    StoreUrl url = StoreUrl.parse("redis://h?namespcae=x");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> url.allowOnly(Set.of("timeout", "namespace")))
        .withMessageContaining("'namespcae'")
        .withMessageContaining("namespace, timeout");
  }

  @Test
  void givenWordOfOtherStoresForTheNamespace_whenChecked_thenTheParameterIsNamed() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> StoreUrl.parse("redis://h?prefix=x").allowOnly(Set.of("timeout", "namespace")))
        .withMessageContaining("Did you mean 'namespace'?");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> StoreUrl.parse("redis://h?chroot=x").allowOnly(Set.of("timeout")))
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("Did you mean"));
  }

  @Test
  void givenTypedParameters_whenRead_thenCheckedOrDefault() {
    StoreUrl url = StoreUrl.parse("redis://h?timeout=2s&create=maybe&b=%C3%A9");
    assertThat(url.duration("timeout", Duration.ZERO)).isEqualTo(Duration.ofSeconds(2));
    assertThat(url.duration("other", Duration.ofMillis(3))).isEqualTo(Duration.ofMillis(3));
    assertThat(url.parameter("b", "")).isEqualTo("é");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> url.flag("create", true))
        .withMessageContaining("true or false");
    assertThatIllegalArgumentException().isThrownBy(() -> url.duration("create", Duration.ZERO));
  }

  @Test
  void givenHostAndPortAlone_whenParsed_thenTheSchemeIsSuggested() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> StoreUrl.parse("localhost:6379"))
        .withMessageContaining("Did you mean 'redis://localhost:6379'?");
    assertThat(StoreUrl.parse("mem:1").scheme()).isEqualTo("mem");
  }

  @Test
  void givenSchemeInCapitals_whenParsed_thenItIsSaid() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> StoreUrl.parse("Redis://localhost"))
        .withMessageContaining("in small letters");
  }

  @Test
  void givenMisspeltParameter_thenTheNearestIsSuggested() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> StoreUrl.parse("redis://h?timout=1s").allowOnly(Set.of("timeout", "wire")))
        .withMessageContaining("Did you mean 'timeout'?");
  }

  @ParameterizedTest
  @CsvSource({
    "postgres://h/db, Did you mean 'jdbc:postgresql:'?",
    "memory:, Did you mean 'mem:'?",
    "quorum:redis://a, Add the artifact mortise-quorum",
    "consul://a, Add the artifact mortise-consul",
    "dynamodb://a/b, Add the artifact mortise-dynamodb",
    "etcd://a, Add the artifact mortise-etcd",
    "memcached://a, Add the artifact mortise-memcached",
    "nats://a, Add the artifact mortise-nats",
    "redis://h, Add the artifact mortise-redis",
    "'jdbc:oracle:thin:@h', Add the artifact mortise-jdbc",
    "nonsense://h, No store is on the class path."
  })
  void givenSchemeOfNoStoreHere_whenConnected_thenTheMessageHelps(String url, String help) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> LockStore.connect(StoreUrl.parse(url)))
        .withMessageContaining(help);
  }

  /** A row of the table of schemes: {@code | `a:` `b:` | [store](page) | `artifact` |}. */
  private static final Pattern SCHEMES =
      Pattern.compile("\\| ((?:`[a-z0-9+:-]+:` ?)+)\\| \\[.*]\\(.*\\) \\| `(mortise-[a-z-]+)` \\|");

  static Stream<Arguments> documentedSchemes() throws IOException {
    return Files.readAllLines(Path.of("../docs/reference/url-parameters.md")).stream()
        .map(SCHEMES::matcher)
        .filter(Matcher::matches)
        .flatMap(
            row ->
                Arrays.stream(row.group(1).replace("`", "").trim().split(" "))
                    .map(scheme -> Arguments.of(scheme, row.group(2))));
  }

  @ParameterizedTest
  @MethodSource("documentedSchemes")
  void givenDocumentedScheme_whenItsArtifactIsMissing_thenTheMessageNamesIt(
      String scheme, String artifact) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> LockStore.connect(StoreUrl.parse(scheme + "//host")))
        .withMessageContaining("Add the artifact " + artifact + " to the class path.");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://:***@localhost",
        "redis://user:***@localhost",
        "redis://***@localhost",
        "jdbc:postgresql://host/db?user=app&password=***",
        "jdbc:postgresql://host/db?password=***&user=app",
        "consul://localhost?token=***"
      })
  void givenUrlWhoseSecretWasReplacedByStars_thenItIsRefusedAsSuch(String url) {
    assertThatThrownBy(() -> LockStore.connect(StoreUrl.parse(url)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("replaced by stars")
        .hasMessageContaining("MORTISE_STORE=@FILE");
  }

  @Test
  void givenUrlOfAFile_thenItIsRefusedAsSuch() {
    assertThatThrownBy(() -> StoreUrl.parse("@/run/secrets/store"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("only the command-line tool reads");
  }
}
