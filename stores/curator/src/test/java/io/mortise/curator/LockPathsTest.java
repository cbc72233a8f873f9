package io.mortise.curator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LockName;
import io.mortise.testkit.NameVectors;
import org.apache.zookeeper.common.PathUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Names are paths, or are refused. */
class LockPathsTest {
  @Test
  void givenName_thenItIsThePathBelowTheBase_andBack() {
    LockPaths paths = new LockPaths("/apps/billing");
    assertThat(paths.of(LockName.of("invoice/42"))).isEqualTo("/apps/billing/invoice/42");
    assertThat(paths.name("/apps/billing/invoice/42")).isEqualTo(LockName.of("invoice/42"));
    assertThat(new LockPaths("").of(LockName.of("a"))).isEqualTo("/a");
  }

  @Test
  void givenAnyName_thenItIsRefusedExactlyIfZooKeeperWouldRefuseThePath() {
    for (LockName name : NameVectors.all()) {
      boolean legal = true;
      try {
        PathUtils.validatePath("/base/" + name.value());
      } catch (IllegalArgumentException e) {
        legal = false;
      }
      assertThat(LockPaths.refusal(name) == null).as(name.value()).isEqualTo(legal);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/a", "a/", "a//b", "a/../b", ".", "a/.", "\ud83d\ude00"})
  void givenNameThatIsNoPath_thenTheRefusalNamesIt(String name) {
    assertThat(LockPaths.refusal(LockName.of(name))).contains("'" + name + "'");
  }

  @Test
  void givenNameWhereFactsAre_thenItIsRefused_andNoOther() {
    assertThat(LockPaths.refusal(LockName.of("mortise-facts"))).contains("'mortise-facts'");
    assertThat(LockPaths.refusal(LockName.of("mortise-facts/texts/a"))).contains("another name");
    assertThat(LockPaths.refusal(LockName.of("mortise-facts2"))).isNull();
    assertThat(LockPaths.refusal(LockName.of("a/mortise-facts"))).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"apps", "/", "/apps/", "//"})
  void givenBaseThatIsNoPath_thenItIsRefused(String base) {
    assertThatThrownBy(() -> new LockPaths(base)).isInstanceOf(IllegalArgumentException.class);
  }
}
