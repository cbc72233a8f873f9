package io.mortise.redis;

import static io.mortise.redis.LockScriptRunner.acquire;
import static io.mortise.redis.LockScriptRunner.attempt;
import static io.mortise.redis.LockScriptRunner.session;
import static io.mortise.redis.LockScriptRunner.wide;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The exact answers of {@code inspect.lua} about a lock. */
class InspectScriptTest extends LockScriptFixture {

  @Test
  void givenLock_whenInspected_thenTheTimeTheRecordAndEachSessionOnceAreTold() {
    run(acquire(A), acquire(B), acquire(attempt('B', 2)), acquire(C));
    String record = run("other:o").at("l:k");
    List<String> told = script.inspect(P, 3);
    String entry = "w" + wide(script.now) + "0001";
    assertThat(told)
        .containsExactly(
            Long.toString(script.now),
            record,
            "3",
            B,
            entry,
            attempt('B', 2),
            entry,
            C,
            entry,
            "",
            session('A'),
            "10000",
            "10000",
            session('B'),
            "10000",
            "10000",
            session('C'),
            "10000",
            "10000");
    assertThat(script.inspect(P, 2).subList(2, 8))
        .containsExactly("3", B, entry, attempt('B', 2), entry, "");
  }

  @Test
  void givenManyWaiters_whenInspected_thenEachIsShownOnce() {
    run(acquire(A));
    List<String> attempts = new ArrayList<>();
    for (int i = 0; i < 203; i++) {
      attempts.add(attempt('B', i));
      run(acquire(attempt('B', i)));
    }
    List<String> told = script.inspect(P, 1_000);
    assertThat(IntStream.range(0, 203).mapToObj(i -> told.get(3 + 2 * i)).toList())
        .isEqualTo(attempts);
    assertThat(told.get(3 + 2 * 203)).isEmpty();
  }
}
