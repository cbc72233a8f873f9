package io.mortise.zookeeper.internal.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LockName;
import io.mortise.testkit.NameVectors;
import java.util.List;
import org.apache.zookeeper.common.PathUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeNamesTest {
  @Test
  void givenNamesThatLookAlike_thenEachHasANodeOfItsOwn_andComesBackAsItWas() {
    List<LockName> names = NameVectors.all();

    List<String> nodes = names.stream().map(NodeNames::encode).toList();

    assertThat(nodes).doesNotHaveDuplicates();
    nodes.forEach(node -> PathUtils.validatePath("/locks/" + node));
    assertThat(nodes.stream().map(NodeNames::decode)).containsExactlyElementsOf(names);
  }

  @Test
  void givenReservedNames_thenTheyAreWrittenOtherwise() {
    assertThat(NodeNames.encode(LockName.of("zookeeper"))).isEqualTo("%7Aookeeper");
    assertThat(NodeNames.encode(LockName.of(".."))).isEqualTo("%2E.");
  }

  @ParameterizedTest
  @ValueSource(strings = {"%", "%4", "%zz", "%41", "a b", "%2e", "\u00e9"})
  void givenNodesThatNoLockHas_thenTheyAreRefused(String node) {
    assertThatThrownBy(() -> NodeNames.decode(node)).isInstanceOf(IllegalArgumentException.class);
  }
}
