package io.mortise.support.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockName;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The assignment of names is part of the compatibility promise: these vectors were computed by
 * another program.
 */
class RendezvousHashTest {
  @ParameterizedTest
  @CsvSource({
    "invoice/42, 5631685992e886cb, df00ce3e29978740, a",
    "invoice/43, 5631675992e88518, 7c423b4bdf6bb76c, a",
    "invoice/44, 56316e5992e890fd, 91501706f83bcbb1, b",
    "nightly-report, 3d4e982679a7b7ab, 9de081294469856d, b",
    "ä ö, c8483e3406fe10b, 7ace3fc3ae2fb6c9, c",
    "x, af63f54c86021707, 82505b76fa242dd, c"
  })
  void givenVectors_thenEachNameIsWhereItWasBefore(
      String name, String hash, String score, String home) {
    List<String> ids = List.of("a", "b", "c");
    long fnv = RendezvousHash.fnv1a64(name.getBytes(StandardCharsets.UTF_8));
    assertThat(Long.toHexString(fnv)).isEqualTo(hash);
    long a = RendezvousHash.fnv1a64("a".getBytes(StandardCharsets.UTF_8));
    assertThat(Long.toHexString(RendezvousHash.mix(fnv ^ a))).isEqualTo(score);
    assertThat(ids.get(new RendezvousHash(ids).of(LockName.of(name)))).isEqualTo(home);
  }

  private static List<LockName> names() {
    return IntStream.range(0, 30_000).mapToObj(i -> LockName.of("invoice/" + i)).toList();
  }

  @Test
  void givenManyNames_thenEachServerHasItsShare() {
    List<String> ids = List.of("cache-1:6379", "cache-2:6379", "cache-3:6379", "cache-4:6379", "z");
    RendezvousHash rendezvousHash = new RendezvousHash(ids);
    int[] counts = new int[ids.size()];
    names().forEach(name -> counts[rendezvousHash.of(name)]++);
    for (int count : counts) {
      assertThat(count).isBetween(5_500, 6_500);
    }
  }

  @Test
  void givenServerThatIsTakenAway_thenOnlyItsNamesMove_andTheOrderOfTheListDoesNotMatter() {
    List<String> all = List.of("a", "b", "c", "d");
    List<String> fewer = List.of("d", "c", "a");
    RendezvousHash before = new RendezvousHash(all);
    RendezvousHash after = new RendezvousHash(fewer);
    for (LockName name : names()) {
      String home = all.get(before.of(name));
      if (!home.equals("b")) {
        assertThat(fewer.get(after.of(name))).isEqualTo(home);
      }
    }
  }
}
