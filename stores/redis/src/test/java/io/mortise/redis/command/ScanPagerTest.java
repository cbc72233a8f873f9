package io.mortise.redis.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.admin.Page;
import io.mortise.redis.command.ScanPager.FoundKeys;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.Seed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pages over a table whose buckets SCAN returns one by one, whole. */
class ScanPagerTest {
  private static final int BUCKETS = 8;

  /** A server's table. A cursor is a bucket number. */
  private static final class KeyTable {
    private final List<List<String>> buckets = new ArrayList<>();

    KeyTable() {
      for (int i = 0; i < BUCKETS; i++) {
        buckets.add(new ArrayList<>());
      }
    }

    CompletionStage<FoundKeys> scan(String cursor, int count) {
      int bucket = Integer.parseInt(cursor);
      List<String> found = new ArrayList<>();
      while (bucket < BUCKETS && found.size() < count) {
        found.addAll(buckets.get(bucket++));
      }
      return CompletableFuture.completedFuture(
          new FoundKeys(Integer.toString(bucket % BUCKETS), found));
    }
  }

  private static ScanPager<String> pager(KeyTable table, boolean isFilling) {
    return isFilling
        ? ScanPager.filling(table::scan, key -> CompletableFuture.completedFuture(Optional.of(key)))
        : ScanPager.byScans(table::scan, CompletableFuture::completedFuture);
  }

  /** A SCAN over all keys at once would stop the server for all clients. */
  @ParameterizedTest
  @ValueSource(strings = {"0/999999999/0/0", "0/1001/0/0", "0/0", "x", "0/10/1/-1"})
  void givenCursorThatIsNotOurs_thenItIsRefused_andNothingIsSent(String cursor) {
    ScanPager<String> pager =
        ScanPager.byScans(
            (from, count) -> {
              throw new AssertionError("SCAN with COUNT " + count);
            },
            CompletableFuture::completedFuture);
    assertThat(pager.page(cursor, 10))
        .failsWithin(Duration.ofSeconds(1))
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(IllegalArgumentException.class)
        .withMessageContaining(cursor);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void givenServerThatMovesKeysWithinItsTable_thenEachIsOnOnePage(boolean isFilling) {
    Seed seed = Seed.draw();
    KeyTable table = new KeyTable();
    List<String> keys = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      keys.add("k" + i);
      table.buckets.get(seed.random().nextInt(BUCKETS)).add("k" + i);
    }
    List<String> seen = new ArrayList<>();
    @Nullable String cursor = null;
    do {
      Page<String> page = BoundedWait.join(pager(table, isFilling).page(cursor, 7));
      seen.addAll(page.items());
      cursor = page.next();
      table.buckets.forEach(bucket -> Collections.rotate(bucket, 1));
    } while (cursor != null);
    assertThat(seen).as("%s", seed).containsExactlyInAnyOrderElementsOf(keys);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void givenKeysThatComeAndGo_thenThoseThatStayAreOnSomePage(boolean isFilling) {
    Seed seed = Seed.draw();
    RandomGenerator random = seed.random();
    for (int world = 0; world < 200; world++) {
      KeyTable table = new KeyTable();
      Set<String> staying = new TreeSet<>();
      for (int i = 0; i < 60; i++) {
        String key = "k" + i;
        boolean stays = random.nextInt(3) > 0;
        table.buckets.get(random.nextInt(BUCKETS)).add(key);
        if (stays) {
          staying.add(key);
        }
      }
      int limit = 1 + random.nextInt(12);
      Set<String> seen = new TreeSet<>();
      @Nullable String cursor = null;
      int pages = 0;
      do {
        Page<String> page = BoundedWait.join(pager(table, isFilling).page(cursor, limit));
        assertThat(page.items()).hasSizeLessThanOrEqualTo(limit);
        seen.addAll(page.items());
        cursor = page.next();
        if (random.nextInt(3) == 0) {
          List<String> bucket = table.buckets.get(random.nextInt(BUCKETS));
          if (random.nextBoolean()) {
            bucket.add(0, "new" + pages);
          } else {
            bucket.removeIf(key -> !staying.contains(key) && random.nextBoolean());
          }
        }
        assertThat(++pages).as("pages of world %d, %s", world, seed).isLessThan(1000);
      } while (cursor != null);
      assertThat(seen).as("world %d, %d a page, %s", world, limit, seed).containsAll(staying);
    }
  }
}
