package io.mortise.support.liveness;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.LockStore;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class ForwardingStoreTest {
  @Test
  void givenAllThatAStoreCanBeAsked_thenEachIsHandedOn_alsoWhatHasADefault() {
    assertThat(signatures(ForwardingStore.class)).containsAll(signatures(LockStore.class));
  }

  private static List<String> signatures(Class<?> type) {
    return Arrays.stream(type.getDeclaredMethods())
        .filter(method -> !method.isSynthetic())
        .filter(method -> (method.getModifiers() & (Modifier.STATIC | Modifier.PRIVATE)) == 0)
        .map(ForwardingStoreTest::signature)
        .toList();
  }

  private static String signature(Method method) {
    return method.getName() + Arrays.toString(method.getParameterTypes());
  }
}
