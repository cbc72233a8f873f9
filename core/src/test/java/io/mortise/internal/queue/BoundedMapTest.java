package io.mortise.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class BoundedMapTest {
  @Test
  void givenFullMap_whenAnotherKeyIsAdded_thenTheKeyAddedFirstIsDropped() {
    assertThat(filled(new BoundedMap<>(2))).containsOnlyKeys("b", "c");
  }

  @Test
  void givenFullMapOfLastUsed_whenAnotherKeyIsAdded_thenTheKeyUsedFirstIsDropped() {
    assertThat(filled(BoundedMap.ofLastUsed(2))).containsOnlyKeys("a", "c");
  }

  /** Key {@code a} is added first, but read last. */
  private static Map<String, Integer> filled(Map<String, Integer> map) {
    map.put("a", 1);
    map.put("b", 2);
    assertThat(map.get("a")).isEqualTo(1);
    map.put("c", 3);
    return map;
  }
}
