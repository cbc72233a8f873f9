package io.mortise.curator;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.curator.Recipe.RecipePosition;
import io.mortise.testkit.Seed;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;
import org.apache.curator.framework.recipes.locks.LockInternals;
import org.apache.curator.framework.recipes.locks.PredicateResults;
import org.apache.curator.framework.recipes.locks.StandardLockInternalsDriver;
import org.junit.jupiter.api.Test;

/** The order of nodes, by their names alone. */
class RecipeTest {
  private static final String A = "_c_00000000-0000-4000-8000-00000000000a-";
  private static final String B = "_c_ffffffff-ffff-4fff-8fff-fffffffffff0-";

  private static RecipePosition place(
      Recipe recipe, boolean reading, String own, String... others) {
    List<String> children = new ArrayList<>(List.of(others));
    children.add(own);
    Collections.shuffle(children, new Random(7));
    RecipePosition place = recipe.place(children, own, reading);
    assertThat(place).isNotNull();
    return place;
  }

  @Test
  void givenRandomLines_thenTheFirstAndTheOneBeforeAreThoseThatCuratorNames() throws Exception {
    StandardLockInternalsDriver curator = new StandardLockInternalsDriver();
    Seed seed = Seed.draw();
    RandomGenerator random = seed.random();
    for (int round = 0; round < 2_000; round++) {
      List<String> children = new ArrayList<>();
      int size = 1 + random.nextInt(6);
      for (int i = 0; i < size; i++) {
        String id = new java.util.UUID(random.nextLong(), random.nextLong()).toString();
        String word = random.nextInt(8) == 0 ? "stranger" : "_c_" + id + "-lock-";
        children.add(word + String.format("%010d", random.nextInt(1_000) * 1_000 + i));
      }
      String own = children.get(random.nextInt(size));
      List<String> sorted = LockInternals.getSortedChildren("lock-", curator, children);
      PredicateResults expected = curator.getsTheLock(null, sorted, own, 1);

      RecipePosition place = Recipe.MUTEX.place(children, own, false);

      assertThat(place).isNotNull();
      assertThat(place.holds())
          .as("%s in %s, %s", own, children, seed)
          .isEqualTo(expected.getsTheLock());
      assertThat(place.next()).isEqualTo(expected.getPathToWatch());
      assertThat(place.ahead()).isEqualTo(sorted.indexOf(own));
      assertThat(place.first()).isEqualTo(sorted.get(0));
    }
  }

  @Test
  void givenReadersAndWriters_thenAReaderWaitsForWritersOnly_andAWriterForAll() {
    String reader = A + "__READ__0000000001";
    String writer = B + "__WRIT__0000000002";
    String later = A + "__READ__0000000003";
    Recipe recipe = Recipe.READ_WRITE;
    assertThat(place(recipe, true, reader, writer, later).holds()).isTrue();
    assertThat(place(recipe, true, reader, writer, later).wanted()).isTrue();
    assertThat(place(recipe, true, reader, later).wanted()).as("by a reader").isFalse();
    assertThat(place(recipe, false, writer, reader, later).next()).isEqualTo(reader);
    assertThat(place(recipe, true, later, reader, writer).next()).isEqualTo(writer);
    assertThat(place(recipe, true, later, reader).holds()).isTrue();
  }

  @Test
  void givenReaderInsideAWriter_thenTheNextWriterWaitsForBoth() {
    String writer = A + "__WRIT__0000000004";
    String inside = B + "__READ__0000000004";
    String next = A + "__WRIT__0000000005";
    assertThat(place(Recipe.READ_WRITE, false, next, writer, inside).ahead()).isEqualTo(2);
    assertThat(place(Recipe.READ_WRITE, false, next, inside).holds()).isFalse();
    assertThat(place(Recipe.READ_WRITE, true, next.replace("WRIT", "READ"), inside).holds())
        .isTrue();
  }

  @Test
  void givenNodeThatIsGone_thenItHasNoPlace() {
    assertThat(Recipe.MUTEX.place(List.of(A + "lock-0000000001"), B + "lock-0000000000", false))
        .isNull();
  }

  @Test
  void givenStrangerAhead_thenItIsNamed() {
    String own = A + "lock-0000000001";
    assertThat(place(Recipe.MUTEX, false, own, "0", B + "lock-0000000000").stranger())
        .isEqualTo("0");
    assertThat(place(Recipe.MUTEX, false, own, "zebra").holds()).isTrue();
  }

  @Test
  void givenNodesOfAnotherRecipe_thenThatIsSaid() {
    assertThat(Recipe.MUTEX.misuse(List.of(A + "__READ__0000000001"))).contains("readwrite");
    assertThat(Recipe.READ_WRITE.misuse(List.of(A + "lock-0000000001"))).contains("mutex");
    assertThat(Recipe.MUTEX.misuse(List.of("leases", "locks"))).contains("semaphore");
    assertThat(Recipe.MUTEX.misuse(List.of(A + "lock-0000000001", "below"))).isNull();
  }
}
