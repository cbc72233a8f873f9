package io.mortise.console.observer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.mortise.console.internal.api.ConsoleApi;
import io.mortise.console.internal.http.ConsoleRequest;
import io.mortise.console.internal.http.ConsoleResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Holds older than the console, beside its events. */
class OlderHoldsTest {
  private static final int BOUND = 200;
  private static final int HELD = 3 * BOUND;
  private static final long SEED = 26;

  private final FakeAdmin store = new FakeAdmin();

  /** The longest hold first. */
  private final List<String> names = new ArrayList<>();

  private ConsoleApi api;

  @BeforeEach
  void start() {
    for (int i = 0; i < HELD; i++) {
      names.add("job/" + i);
    }
    // The store lists by name; the heap should see short and long holds mixed.
    Collections.shuffle(names, new Random(SEED));
    for (int i = 0; i < HELD; i++) {
      store.hold(names.get(i), i % 2, i + 1);
      store.advance(Duration.ofMillis(10));
    }
    Observer observer = new Observer(store, 0.5, () -> store.nanos, store::now);
    store.advance(Duration.ofMillis(10));
    store.hold("younger", 1, HELD + 1);
    api = new ConsoleApi(store, null, observer, Set.of(), null, () -> store.nanos, store::now);
    observer.watched();
    while (!observer.survey().complete()) {
      store.nanos += Math.min(observer.step(), Duration.ofMillis(200).toNanos());
    }
    assertThat(observer.locks()).hasSize(HELD + 1);
  }

  @SuppressWarnings("unchecked") // The answers of the API are objects.
  private List<Map<String, Object>> holds(String path, String query) throws IOException {
    ConsoleResponse response =
        api.apply(new ConsoleRequest("GET", path, query, header -> List.of(), new byte[0], null));
    assertThat(response.status()).isEqualTo(200);
    return (List<Map<String, Object>>) JSON.std.mapFrom(response.body()).get("holds");
  }

  private List<Object> locks(String path, String query) throws IOException {
    return holds(path, query).stream().map(hold -> hold.get("lock")).toList();
  }

  @Test
  void givenMoreThanTheBound_thenTheLongestAreAnswered_theLongestFirst() throws IOException {
    assertThat(locks("events", "")).isEqualTo(names.subList(0, BOUND));
    assertThat(locks("events", "since=0")).isEqualTo(names.subList(0, BOUND));
  }

  @Test
  void givenProcess_thenTheLongestOfIt() throws IOException {
    List<String> odd = new ArrayList<>();
    for (int i = 1; i < 2 * BOUND; i += 2) {
      odd.add(names.get(i));
    }
    assertThat(locks("events", "process=" + FakeAdmin.session(1))).isEqualTo(odd);
  }

  @Test
  void givenName_thenThatHoldAlone_alsoIfOthersHoldForLonger() throws IOException {
    String shortest = names.get(HELD - 1);
    assertThat(locks("events", "lock=" + shortest)).containsExactly(shortest);
    assertThat(locks("locks/" + shortest.replace("/", "%2F") + "/history", ""))
        .containsExactly(shortest);
    assertThat(holds("events", "lock=" + shortest + "&process=" + FakeAdmin.session(0))).isEmpty();
    assertThat(holds("events", "lock=younger")).isEmpty();
    assertThat(holds("events", "lock=nobody-knows")).isEmpty();
    assertThat(holds("events", "kind=granted")).isEmpty();
  }
}
