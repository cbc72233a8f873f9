package io.mortise.console.observer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.mortise.console.internal.api.ConsoleApi;
import io.mortise.console.internal.http.ConsoleRequest;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The order of locks inspected at different times. */
class LockOrderTest {
  private final FakeAdmin store = new FakeAdmin();
  private final Observer observer = new Observer(store, 0.5, () -> store.nanos, store::now);
  private final ConsoleApi api =
      new ConsoleApi(store, null, observer, Set.of(), null, () -> store.nanos, store::now);

  private Map<String, Object> get(String path, String query) throws IOException {
    var request = new ConsoleRequest("GET", path, query, header -> List.of(), new byte[0], null);
    return JSON.std.mapFrom(api.apply(request).body());
  }

  @SuppressWarnings("unchecked") // The answers of the API are objects.
  private List<Object> names(String sort) throws IOException {
    var locks = (List<Map<String, Object>>) get("locks", "sort=" + sort).get("locks");
    return locks.stream().map(lock -> lock.get("name")).toList();
  }

  @Test
  void givenLockThatIsLookedAtLater_thenItsAgesDoNotMoveItUp() throws IOException {
    for (int i = 1; i <= 2; i++) {
      store.hold("lock/" + i, i, 1);
      store.advance(Duration.ofMillis(100));
      store.await("lock/" + i, i + 2, 1);
      store.advance(Duration.ofMillis(100));
    }
    observer.look("lock/1");
    observer.look("lock/2");
    for (String sort : List.of("trouble", "held", "waiting")) {
      assertThat(names(sort)).as(sort).containsExactly("lock/1", "lock/2");
    }

    store.advance(Duration.ofSeconds(2));
    observer.look("lock/2"); // Like a choice on the page.
    for (String sort : List.of("trouble", "held", "waiting")) {
      assertThat(names(sort)).as(sort).containsExactly("lock/1", "lock/2");
    }
    Map<String, Object> status = get("status", "");
    assertThat((int) status.get("longestHoldMillis")).isBetween(2400, 2410);
    assertThat((int) status.get("longestWaitMillis")).isBetween(2300, 2310);
  }
}
