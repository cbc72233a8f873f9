package io.mortise.support.internal.document;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.support.internal.document.WatchedKeys.WatchRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class WatchedKeysTest {
  private static final String ANSWER = "changed";

  private final List<WatchRequest> sent = new ArrayList<>();
  private final List<CompletableFuture<String>> exchanges = new ArrayList<>();
  private final WatchedKeys keys = new WatchedKeys((key, request) -> send(request));
  private boolean isRefused;
  private int told;

  private void send(WatchRequest request) {
    if (isRefused) {
      throw new IllegalStateException("refused");
    }
    CompletableFuture<String> exchange = new CompletableFuture<>();
    sent.add(request);
    exchanges.add(exchange);
    request.carriedBy(exchange, answer -> {});
  }

  private Runnable watch() {
    return keys.add("a", found -> told++);
  }

  @Test
  void givenWatchedKey_whenItIsWritten_thenLaterChangesOfOthersAreTold_andOwnOnesAreNot() {
    watch();
    assertThat(sent).isEmpty();
    keys.written("other", 1);
    keys.written("a", 2);
    assertThat(sent).hasSize(1);
    WatchRequest request = sent.get(0);
    assertThat(request.seen()).isEqualTo(2);
    request.tell(3, null, true);
    assertThat(told).isZero();
    keys.written("a", 4);
    request.tell(4, null, false);
    assertThat(told).as("by its index").isZero();
    request.tell(5, null, false);
    assertThat(told).isEqualTo(1);
    assertThat(sent).hasSize(1);
  }

  @Test
  void givenRequestThatIsSilentAboutARenewal_thenTheFollowingOneSendsAnother() {
    watch();
    keys.written("a", 1);
    keys.written("a", 2);
    assertThat(sent).hasSize(1);
    keys.written("a", 3);
    assertThat(sent).hasSize(2);
    assertThat(exchanges.get(0)).isCancelled();
    assertThat(exchanges.get(1)).isNotDone();
    assertThat(sent.get(1).seen()).isEqualTo(3);
    sent.get(0).tell(4, null, false);
    assertThat(told).as("by the one in whose place another is").isZero();
    sent.get(1).tell(4, null, false);
    assertThat(told).isEqualTo(1);
  }

  @Test
  void givenRequestThatEnds_thenItIsSentAgainAtOnceOnlyIfItHasTold() {
    watch();
    keys.written("a", 1);
    sent.get(0).tell(7, null, false);
    exchanges.get(0).complete(ANSWER);
    assertThat(sent).hasSize(2);
    assertThat(sent.get(1).seen()).isEqualTo(7);
    exchanges.get(1).complete(ANSWER);
    assertThat(sent).as("no loop").hasSize(2);
    keys.written("a", 8);
    assertThat(sent).hasSize(3);
    exchanges.get(2).completeExceptionally(new IllegalStateException("broken"));
    assertThat(sent).hasSize(3);
    keys.written("a", 9);
    assertThat(sent).hasSize(4);
    sent.get(3).end();
    assertThat(exchanges.get(3)).isCancelled();
    keys.written("a", 10);
    assertThat(sent).hasSize(5);
  }

  @Test
  void givenWatchOrAllThatEnd_thenTheirRequestsEnd_andNothingIsTold() {
    Runnable end = watch();
    keys.written("a", 1);
    end.run();
    end.run();
    assertThat(exchanges.get(0)).isCancelled();
    sent.get(0).tell(2, null, false);
    keys.written("a", 3);
    watch();
    keys.written("a", 4);
    sent.get(1).tell(5, null, true);
    keys.close();
    assertThat(exchanges.get(1)).isCancelled();
    keys.written("a", 6);
    assertThat(sent).hasSize(2);
    assertThat(told).isZero();
  }

  @Test
  void givenKeyThatIsWatchedTwice_whenOneWatchEnds_thenTheOtherIsTold() {
    watch();
    Runnable end = keys.add("a", found -> told += 100);
    keys.written("a", 1);
    end.run();
    assertThat(exchanges.get(1)).isCancelled();
    sent.forEach(request -> request.tell(2, null, false));
    assertThat(told).isEqualTo(1);
  }

  @Test
  void givenRequestThatCannotBeSent_thenTheNextWriteSendsAnother() {
    watch();
    isRefused = true;
    keys.written("a", 1);
    isRefused = false;
    keys.written("a", 2);
    assertThat(sent).hasSize(1);
  }
}
