package io.mortise.console.internal.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.mortise.StoreUnavailableException;
import io.mortise.spi.StoreReport;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The frequency of examinations of a store. */
class ExaminedStoreTest {
  private long nanos;
  private int looks;
  private boolean away;
  private final ExaminedStore store =
      new ExaminedStore(this::look, "redis:cache-1", () -> nanos, InstantSource.system());

  private StoreReport look() {
    looks++;
    if (away) {
      throw new StoreUnavailableException("The store does not answer.");
    }
    return StoreReport.about("redis/always").build();
  }

  @Test
  void givenStoreThatDoesNotAnswer_whenManyAsk_thenItIsAskedOnceInFiveSeconds() {
    away = true;
    Set<Throwable> thrown = Collections.newSetFromMap(new IdentityHashMap<>());
    for (int i = 0; i < 3; i++) {
      thrown.add(catchThrowable(() -> store.doctor(true)));
    }
    assertThat(thrown)
        .as("each request gets an exception of its own")
        .hasSize(3)
        .allSatisfy(
            each ->
                assertThat(each)
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessage("The store does not answer."));
    assertThat(looks).isEqualTo(1);
    nanos += Duration.ofSeconds(6).toNanos();
    away = false;
    assertThat(store.doctor(false)).containsEntry("mode", "redis/always");
    assertThat(looks).isEqualTo(2);
    store.doctor(true);
    assertThat(looks).as("a look is fresh for five seconds").isEqualTo(2);
    nanos += Duration.ofSeconds(6).toNanos();
    store.doctor(true);
    assertThat(looks).isEqualTo(3);
  }
}
